import sharp from 'sharp'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { apiWorld, signIn, type ApiWorld, type SignedIn } from '../../../support/api.ts'
import { captionsOf, completion, hang, sent, startCaptionProvider } from '../../../support/caption-provider.ts'

const TIMEOUT_MS = 1_500

let provider: Awaited<ReturnType<typeof startCaptionProvider>>
let world: ApiWorld
let templates: ApiWorld
beforeAll(async () => {
  provider = await startCaptionProvider()
  world = await apiWorld({
    CAPTIONS_URL: provider.url,
    CAPTIONS_API_KEY: 'sk-secret-of-the-provider',
    CAPTIONS_MODEL: 'a-model',
    CAPTIONS_TIMEOUT_MS: TIMEOUT_MS,
    CAPTIONS_PER_HOUR: 6,
  })
  templates = await apiWorld()
})
beforeEach(() => provider.answer(completion({ content: captionsOf('One', 'Two') })))
afterAll(async () => {
  await world?.close()
  await templates?.close()
  await provider?.stop()
})

async function ask(who: SignedIn, body: object = {}, { platform = '', on = world } = {}) {
  const url = `/api/generate/captions${platform && `/${platform}`}`
  const payload = { prompt: 'Our new café', ...body }
  const response = await on.app.inject({ method: 'POST', url, headers: who.headers, payload })
  return { status: response.statusCode, headers: response.headers, body: response.json() }
}

const withLimit = (maxCaptionGenerations: number) =>
  signIn(world.context, { limits: { maxPosts: 1, maxCaptionGenerations } })
const usedBy = async ({ user }: SignedIn) => (await world.context.users.findById(user._id))!.usage.captionGenerations

const pictureOf = async (format: 'png' | 'jpeg' | 'webp') => {
  const bytes = await sharp({ create: { width: 2, height: 2, channels: 3, background: 'red' } })
    .toFormat(format)
    .toBuffer()
  return `data:image/${format};base64,${bytes.toString('base64')}`
}

describe('captions from a provider', () => {
  it('captions are returned with the usage of the plan', async () => {
    const who = await withLimit(15)
    const { status, body } = await ask(who)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      success: true,
      message: 'Captions generated',
      data: { provider: 'model', captions: ['One', 'Two'], usage: { used: 1, limit: 15 } },
    })
    expect(await usedBy(who)).toBe(1)
  })

  it('the provider receives the whole request and the images', async () => {
    const media = [await pictureOf('png'), await pictureOf('jpeg'), await pictureOf('webp')]
    await ask(await withLimit(15), { media, text: 'We open on Monday', tone: 'warm' }, { platform: 'bluesky' })
    const { model, messages, authorization, userAgent } = provider.asked.at(-1)!
    expect(model).toBe('a-model')
    expect(authorization).toBe('Bearer sk-secret-of-the-provider')
    expect(userAgent).toMatch(/^postonce\/[\d.]+ \(\+http\S+\)$/)
    expect(messages[0]!.content).toContain('Bluesky')
    expect(messages[0]!.content).toContain('300 characters')
    expect(messages[0]!.content).toContain('"warm"')
    const [text, ...pictures] = messages[1]!.content as Exclude<(typeof messages)[1]['content'], string>
    expect(text!.text).toContain('Our new café')
    expect(text!.text).toContain('We open on Monday')
    expect(pictures.map(({ image_url: image }) => image!.url)).toEqual(media)
  })

  it('captions are cut to the limit of the platform, and invalid ones are dropped', async () => {
    const content = captionsOf('x'.repeat(5_000), 7, null, ' ', 'Short', ['no'])
    provider.answer(completion({ content: `\`\`\`json\n${content}\n\`\`\`` }))
    const { body } = await ask(await withLimit(15), {}, { platform: 'mastodon' })
    expect(body.data.captions).toEqual([`${'x'.repeat(499)}…`, 'Short'])
  })

  it('a failed provider call is retried within the deadline', async () => {
    let calls = 0
    provider.answer((response) =>
      (calls++ === 0 ? sent(500, {}) : completion({ content: captionsOf('One') }))(response),
    )
    expect((await ask(await withLimit(15))).body.data.captions).toEqual(['One'])
  })
})

describe('a failing caption provider', () => {
  it.each([
    [
      'does not know the key',
      sent(401, { error: { message: 'Incorrect API key: sk-secret-of-the-provider' } }),
      /not available/,
    ],
    ['is busy', sent(429, { error: { message: 'busy' } }, { 'retry-after': '17', 'x-should-retry': 'false' }), /busy/],
    ['is broken', sent(500, 'oops'), /not available/],
    ['hangs', hang, /in time/],
    ['responds without JSON', sent(200, '<html>'), /./],
    ['responds with garbage', completion({ content: 'Sure! Here are some captions' }), /unusable response/],
    ['responds with another shape', completion({ content: '{"captions": {"a": 1}}' }), /unusable response/],
    ['responds with nothing', completion({ content: captionsOf() }), /unusable response/],
    ['responds without a choice', sent(200, { choices: [] }), /unusable response/],
    ['breaks off', completion({ content: '{"captions": ["On' }, 'length'), /unusable response/],
    ['sends too much', sent(200, 'x'.repeat(3_000_000)), /not available/],
    ['redirects elsewhere', sent(307, '', { location: 'http://127.0.0.1:9/' }), /not available/],
  ])('a provider that %s causes an error and uses up nothing', async (_name, reply, message) => {
    const who = await withLimit(15)
    provider.answer(reply)
    const { status, body, headers } = await ask(who)
    expect([status, body.code]).toEqual([502, 'CAPTION_PROVIDER_FAILED'])
    expect(body.message).toMatch(message)
    expect(JSON.stringify(body)).not.toContain('sk-secret')
    if (_name === 'is busy') expect(headers['retry-after']).toBe('17')
    expect(await usedBy(who)).toBe(0)
  })

  it.each([
    ['by a refusal', completion({ content: null, refusal: 'I cannot help with that' })],
    ['by its filter', completion({ content: '' }, 'content_filter')],
    ['by an error', sent(400, { error: { message: 'no', code: 'content_policy_violation' } })],
  ])('a refusal %s by the provider causes an error and uses up nothing', async (_name, reply) => {
    const who = await withLimit(15)
    provider.answer(reply)
    const { status, body } = await ask(who)
    expect([status, body.code]).toEqual([400, 'CAPTION_REFUSED'])
    expect(await usedBy(who)).toBe(0)
  })

  it('a provider failure does not count against the hourly limit', async () => {
    const who = await withLimit(15)
    provider.answer(completion({ content: null, refusal: 'no' }))
    for (let call = 0; call < 8; call++) expect((await ask(who)).body.code).toBe('CAPTION_REFUSED')
    provider.answer(completion({ content: captionsOf('One') }))
    expect((await ask(who)).status).toBe(200)
  })
})

describe('caption limits', () => {
  it('an exhausted plan is reported without calling the provider', async () => {
    const who = await withLimit(1)
    await ask(who)
    const before = provider.asked.length
    const { status, body } = await ask(who)
    expect(status).toBe(403)
    expect(body).toMatchObject({ code: 'CAPTION_LIMIT_REACHED', usage: 1, limit: 1 })
    expect(body.message).toContain('(1/1)')
    expect(provider.asked).toHaveLength(before)
  })

  it('concurrent generations do not exceed the plan', async () => {
    const who = await withLimit(2)
    const answers = await Promise.all(Array.from({ length: 6 }, () => ask(who)))
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 200, 403, 403, 403, 403])
    expect(await usedBy(who)).toBe(2)
  })

  it('an exhausted hourly limit is reported with its bucket', async () => {
    const who = await withLimit(15)
    for (let call = 0; call < 6; call++) expect((await ask(who)).status).toBe(200)
    const { status, body, headers } = await ask(who)
    expect([status, body.bucket]).toEqual([429, 'captions'])
    expect(Number(headers['retry-after'])).toBeGreaterThan(0)
    expect(await usedBy(who)).toBe(6)
  })
})

describe('a caption request', () => {
  it.each([
    ['without a prompt', { prompt: undefined }, 'prompt'],
    ['with an empty prompt', { prompt: ' ' }, 'prompt'],
    ['with a URL instead of an image', { media: ['https://example.com/a.png'] }, 'media.0'],
    ['with an invalid image', { media: ['data:image/png;base64,AAAA'] }, 'media.0'],
    ['with an unsupported type', { media: ['data:image/svg+xml;base64,AAAA'] }, 'media.0'],
    ['with five images', { media: Array.from({ length: 5 }, () => 'x') }, 'media'],
  ])('a request %s is rejected and uses up nothing', async (_name, change, path) => {
    const who = await withLimit(15)
    const { status, body } = await ask(who, change)
    expect([status, body.errors[0].path]).toEqual([400, path])
    expect(await usedBy(who)).toBe(0)
  })

  it('captions for an unknown platform are 404', async () => {
    expect((await ask(await withLimit(15), {}, { platform: 'myspace' })).status).toBe(404)
  })

  it('large images are rejected while a request of the same user runs, and wait while four of other users run', async () => {
    const who = await withLimit(100)
    const png = Buffer.from((await pictureOf('png')).split(',')[1]!, 'base64')
    const media = [`data:image/png;base64,${Buffer.concat([png, Buffer.alloc(1_000_000)]).toString('base64')}`]
    provider.answer(hang)
    const before = provider.asked.length
    const others = await Promise.all(Array.from({ length: 4 }, () => withLimit(15)))
    const held = others.map((other) => ask(other, { media }))
    await expect.poll(() => provider.asked.length - before, { timeout: 50_000 }).toBe(4)
    const second = await ask(others[0]!, { media })
    expect([second.status, second.body.code, second.headers['retry-after']]).toEqual([429, 'RATE_LIMITED', '5'])
    provider.answer(completion({ content: captionsOf('One') }))
    const waiting = ask(who, { media })
    expect((await ask(who)).status).toBe(200)
    const ends = [...held.map((one) => one.then(() => 'held')), waiting.then(() => 'waiting')]
    expect(await Promise.race(ends)).toBe('held')
    expect((await waiting).status).toBe(200)
    await Promise.all(held)
  })

  it('a request accepts four large images and at most 20 MiB', async () => {
    const who = await signIn(templates.context)
    const noise = Buffer.alloc(4_500_000, 7)
    const png = Buffer.from((await pictureOf('png')).split(',')[1]!, 'base64')
    const large = `data:image/png;base64,${Buffer.concat([png, noise]).toString('base64')}`
    expect((await ask(who, { media: [large, large, large] }, { on: templates })).status).toBe(200)
    expect((await ask(who, { media: [large, large, large, large] }, { on: templates })).status).toBe(413)
  })
})

it('without a provider the response says that the captions are templates', async () => {
  const who = await signIn(templates.context)
  const { status, body } = await ask(who, { tone: 'funny' }, { on: templates, platform: 'threads' })
  expect(status).toBe(200)
  expect(body.message).toMatch(/^No caption provider is configured\. .*templates/)
  expect(body.data.provider).toBe('template')
  expect(body.data.captions).toHaveLength(4)
  expect(body.data.captions).not.toContain('Our new café')
  for (const caption of body.data.captions) expect(caption).toContain('Our new café')
  expect(body.data.usage.used).toBe(1)
})
