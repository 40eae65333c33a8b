import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startMastodon, type Mastodon } from '../../../../sandbox/platforms/mastodon.ts'
import { MAX_UPLOAD_BYTES, POSTING_RULES, type MediaKind } from '../../../../src/domain/posts/posting-rules.ts'
import { apiWorld, signIn, type ApiWorld, type SignedIn } from '../../../support/api.ts'
import { controlOf } from '../../../support/platform-control.ts'

const INSTANCE = '/api/v2/instance'

let mastodon: Mastodon
let world: ApiWorld
let user: SignedIn

const worldAt = (url: string) =>
  apiWorld({ MASTODON_INSTANCE_URL: url, MASTODON_CLIENT_ID: 'id', MASTODON_CLIENT_SECRET: 'secret' })

beforeAll(async () => {
  mastodon = await startMastodon({ maxCharacters: 1_000, types: ['image/jpeg', 'video/mp4'] })
  world = await worldAt(mastodon.url)
  user = await signIn(world.context)
})

afterAll(async () => {
  await world?.close()
  await mastodon?.stop()
})

async function ask(method: 'GET' | 'POST' | 'PATCH', url: string, payload?: object, { app } = world, as = user) {
  const response = await app.inject({ method, url, headers: as.headers, ...(payload && { payload }) })
  return { status: response.statusCode, body: response.json() }
}

const post = (length: number, more: object = {}) => ({
  content: { text: 'x'.repeat(length), ...more },
  selectedPlatforms: ['mastodon'],
  scheduledAt: new Date(Date.now() + 3_600_000).toISOString(),
})

const codes = ({ body }: { body: { errors?: { code: string }[] } }) => body.errors?.map(({ code }) => code)

it('no platform accepts a larger file than the media upload', async () => {
  const { body } = await ask('GET', '/api/platform/limits')
  const media = Object.values(body.data as Record<string, { media: Record<MediaKind, { maxBytes: number }> }>)
  for (const { media: limits } of media) {
    expect(limits.image.maxBytes).toBeLessThanOrEqual(MAX_UPLOAD_BYTES.image)
    expect(limits.video.maxBytes).toBeLessThanOrEqual(MAX_UPLOAD_BYTES.video)
  }
  const request = { contentType: 'video/mp4', sizeBytes: body.data.facebook.media.video.maxBytes }
  expect((await ask('POST', '/api/posts/media/upload', request)).status).toBe(200)
})

describe('limits of an instance', () => {
  it('limits of an instance are listed beside the defaults of other platforms', async () => {
    const { body } = await ask('GET', '/api/platform/limits')
    expect(body.data.mastodon.text).toEqual([{ unit: 'graphemesLinksAs23', max: 1_000 }])
    expect(body.data.mastodon.media.video.types).toEqual(['video/mp4'])
    expect(body.data.threads.text).toEqual([...POSTING_RULES.threads.text])
  })

  it('limits of an instance apply to create, edit and validate', async () => {
    const created = await ask('POST', '/api/posts', post(1_000))
    expect(created.status).toBe(201)
    expect(codes(await ask('POST', '/api/posts', post(1_001)))).toEqual(['TEXT_TOO_LONG'])
    const { postId } = created.body.data
    expect(codes(await ask('PATCH', `/api/posts/${postId}`, { content: { text: 'y'.repeat(1_001) } }))).toEqual([
      'TEXT_TOO_LONG',
    ])
    const { body } = await ask('POST', '/api/posts/validate', post(1_001))
    expect(body.data).toMatchObject({ valid: false, platforms: { mastodon: { length: 1_001, limit: 1_000 } } })
  })

  it('limits of an instance are cached, not read for every post', async () => {
    for (let count = 0; count < 3; count++) await ask('POST', '/api/posts/validate', post(10))
    const requests = await controlOf(mastodon.control).requests()
    expect(requests.filter(({ path }) => path === INSTANCE)).toHaveLength(1)
  })

  it('the defaults apply while the instance does not respond', async () => {
    const silent = await startMastodon({ maxCharacters: 1_000 })
    await controlOf(silent.control).fault({ path: INSTANCE, action: { hang: true } })
    const other = await worldAt(silent.url)
    const person = await signIn(other.context)
    const { body } = await ask('POST', '/api/posts/validate', post(501), other, person)
    expect(body.data.platforms.mastodon.limit).toBe(500)
    await other.close()
    await silent.stop()
  })
})
