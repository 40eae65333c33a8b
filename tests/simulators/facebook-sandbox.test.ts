import { createHmac } from 'node:crypto'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startMeta, type Meta } from '../../sandbox/platforms/meta.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import {
  decide,
  metaWorld,
  REDIRECT_URI,
  SCOPES,
  uniqueName,
  type MetaWorld,
} from '../platforms/shared/meta-support.ts'
import { controlOf, storedMedia } from '../platforms/shared/support.ts'
import { film } from '../support/film.ts'

let world: MetaWorld
let stored: Awaited<ReturnType<typeof storedMedia>>

beforeAll(async () => {
  world = await metaWorld()
  stored = await storedMedia()
})
afterAll(async () => {
  stored?.close()
  await world?.stop()
})

const addressOf = async (bytes: Uint8Array, type: string) => (await stored.add(bytes, type)).storageUrl
const picture = async (format: 'png' | 'webp' = 'png') =>
  addressOf(
    await sharp({ create: { width: 20, height: 20, channels: 3, background: 'red' } })
      [format]()
      .toBuffer(),
    `image/${format}`,
  )

const PATIENT = { timeout: 50_000 }

/** The error in a response. */
const problem = ({ body }: { body: object }) => (body as { error: Record<string, unknown> }).error

describe('the dialog', () => {
  it('the dialog shows the application and its permissions, and returns a code with the state', async () => {
    const { person } = world.newPerson()
    const page = await (await fetch(world.dialogUrl())).text()
    for (const shown of ['postonce', person.name, 'pages_manage_posts', 'Allow', 'Deny']) expect(page).toContain(shown)
    const back = new URL(await decide(world.dialogUrl(), person.id))
    expect(`${back.origin}${back.pathname}`).toBe(REDIRECT_URI)
    expect(back.searchParams.get('state')).toBe('a state')
    expect(back.searchParams.get('code')).toBeTruthy()
    expect(back.hash).toBe('#_=_')
  })

  it('the dialog reports a denial like the real platform', async () => {
    const { person } = world.newPerson()
    const { searchParams } = new URL(await decide(world.dialogUrl(), person.id, {}, 'deny'))
    expect(Object.fromEntries(searchParams)).toMatchObject({
      error: 'access_denied',
      error_reason: 'user_denied',
      state: 'a state',
    })
  })

  it.each([
    ['an unknown application', { client_id: '1' }],
    ['an address that is not registered', { redirect_uri: `${REDIRECT_URI}/` }],
    ['a permission there is not', { scope: 'pages_rule_them_all' }],
  ])('the dialog shows an error page for %s', async (_, changes) => {
    const { person } = world.newPerson()
    await expect(decide(world.dialogUrl(changes), person.id)).rejects.toThrow(/answered 400/)
  })
})

describe('tokens', () => {
  const codeOf = async (personId: string) =>
    new URL(await decide(world.dialogUrl(), personId)).searchParams.get('code')!
  const exchange = (changes: Record<string, string>) =>
    world.graph<{ access_token: string; expires_in: number }>('GET', '/oauth/access_token', {
      ...world.client,
      redirect_uri: REDIRECT_URI,
      ...changes,
    })

  it('a token is issued once per code and only for the redirect URI of the code', async () => {
    const { person } = world.newPerson()
    const code = await codeOf(person.id)
    expect((await exchange({ code })).body).toMatchObject({ token_type: 'bearer' })
    expect(problem(await exchange({ code }))).toMatchObject({ code: 100, error_subcode: 36_009 })
    const other = await codeOf(person.id)
    expect(problem(await exchange({ code: other, redirect_uri: `${REDIRECT_URI}?x=1` }))).toMatchObject({
      code: 100,
      error_subcode: 36_008,
    })
    expect(problem(await exchange({ code: other }))).toMatchObject({ error_subcode: 36_009 })
    expect(problem(await exchange({ code: await codeOf(person.id), client_secret: 'no' }))).toMatchObject({ code: 1 })
  })

  it('tokens live for an hour or two, then for sixty days', async () => {
    const { person } = world.newPerson()
    const short = (await exchange({ code: await codeOf(person.id) })).body
    expect(short.expires_in).toBeLessThanOrEqual(2 * 3_600)
    const long = await exchange({ grant_type: 'fb_exchange_token', fb_exchange_token: short.access_token })
    expect(long.body.expires_in / 86_400).toBeCloseTo(60, 1)
    const dead = await exchange({ grant_type: 'fb_exchange_token', fb_exchange_token: 'invented' })
    expect(problem(dead)).toMatchObject({ code: 190 })
  })

  it('page tokens do not expire, and are invalid with the login they came from', async () => {
    const { person, token } = await world.newPage()
    const input = { access_token: `${world.app.id}|${world.app.secret}`, input_token: token }
    const inspect = async () => (await world.graph<{ data: object }>('GET', '/debug_token', input)).body.data
    expect(await inspect()).toMatchObject({ type: 'PAGE', is_valid: true, expires_at: 0 })
    await controlOf(world.meta.facebook).expire(person.id)
    expect(await inspect()).toMatchObject({ is_valid: true })
    await controlOf(world.meta.facebook).revoke(person.id)
    expect(await inspect()).toMatchObject({ is_valid: false })
    expect(problem(await world.graph('GET', '/me', {}, token))).toMatchObject({ code: 190, error_subcode: 458 })
  })

  it('an expired token is refused with the reason', async () => {
    const { person, page, userToken, token } = await world.newPage()
    await controlOf(world.meta.facebook).expire(person.id)
    expect(problem(await world.graph('GET', '/me', {}, userToken))).toMatchObject({ code: 190, error_subcode: 463 })
    await controlOf(world.meta.facebook).revoke(page.id)
    expect(problem(await world.graph('GET', '/me', {}, token))).toMatchObject({ code: 190, error_subcode: 492 })
  })

  it('all tokens are invalid after the person removes the application', async () => {
    const { userToken, token } = await world.newPage()
    expect((await world.graph('DELETE', '/me/permissions', {}, token)).code).toBe(210)
    expect((await world.graph('DELETE', '/me/permissions', {}, userToken)).body).toEqual({ success: true })
    expect((await world.graph('GET', '/me', {}, token)).code).toBe(190)
  })

  it('a proof may be sent, and an invalid one is refused', async () => {
    const { token } = await world.newPage()
    const proof = createHmac('sha256', world.app.secret).update(token).digest('hex')
    expect((await world.graph('GET', '/me', { appsecret_proof: proof }, token)).status).toBe(200)
    expect((await world.graph('GET', '/me', { appsecret_proof: 'no' }, token)).code).toBe(100)
  })
})

describe('permissions', () => {
  it('granted and declined permissions are reported and enforced', async () => {
    const { person } = world.newPerson()
    const token = await world.logIn(person.id, { decline: ['pages_manage_posts', 'instagram_basic'] })
    const { body } = await world.graph<{ data: object[] }>('GET', '/me/permissions', {}, token)
    expect(body.data).toContainEqual({ permission: 'pages_manage_posts', status: 'declined' })
    expect(body.data).toContainEqual({ permission: 'pages_show_list', status: 'granted' })
    expect(body.data).toHaveLength(SCOPES.length)
    const fields = 'id,access_token,instagram_business_account'
    const pages = await world.graph<{ data: { id: string; access_token: string }[] }>(
      'GET',
      '/me/accounts',
      { fields },
      token,
    )
    const [page] = pages.body.data
    expect(page).not.toHaveProperty('instagram_business_account')
    const refused = await world.graph('POST', `/${page!.id}/feed`, { message: 'no' }, page!.access_token)
    expect(problem(refused)).toMatchObject({ code: 200 })
  })

  it('an application sees only the pages that were shared', async () => {
    const { person, pages } = world.newPerson({ pages: 2 })
    const token = await world.logIn(person.id, { hide: [pages[0]!.id] })
    const { body } = await world.graph<{ data: { id: string }[] }>('GET', '/me/accounts', {}, token)
    expect(body.data.map(({ id }) => id)).toEqual([pages[1]!.id])
    expect(problem(await world.graph('GET', `/${pages[0]!.id}`, {}, token))).toMatchObject({
      code: 100,
      error_subcode: 33,
    })
  })

  it('each login may list the pages in another order', async () => {
    const other = await metaWorld({ changesPageOrder: true })
    try {
      const { person } = other.newPerson({ pages: 2 })
      const order = async () => {
        const token = await other.logIn(person.id)
        const { body } = await other.graph<{ data: { id: string }[] }>('GET', '/me/accounts', {}, token)
        return body.data.map(({ id }) => id)
      }
      const first = await order()
      expect(await order()).toEqual(first.toReversed())
    } finally {
      await other.stop()
    }
  })

  it('a page states what its person may do there, and may be listed without a token', async () => {
    const { person } = world.meta.createPerson({
      name: uniqueName('Ann '),
      pages: [
        { name: 'Seen', hasToken: false },
        { name: 'Analyzed', tasks: ['ANALYZE'] },
      ],
    })
    const token = await world.logIn(person.id)
    const { body } = await world.graph<{ data: { id: string; access_token: string }[] }>(
      'GET',
      '/me/accounts',
      { fields: 'id,name,tasks,access_token' },
      token,
    )
    expect(body.data[0]).toEqual({ id: expect.any(String), name: 'Seen', tasks: expect.arrayContaining(['MANAGE']) })
    const analyzed = body.data[1]!
    expect(analyzed).toMatchObject({ name: 'Analyzed', tasks: ['ANALYZE'] })
    const posted = await world.graph('POST', `/${analyzed.id}/feed`, { message: 'no' }, analyzed.access_token)
    expect(problem(posted)).toMatchObject({ code: 200 })
  })

  it('pages of a business portfolio are listed by its edges only', async () => {
    const { person, pages } = world.meta.createPerson({
      name: uniqueName('Ann '),
      pages: [
        { name: 'Own', portfolio: { name: 'Agency', edge: 'owned_pages' } },
        { name: 'Of a client', portfolio: { name: 'Agency', edge: 'client_pages' } },
      ],
    })
    const token = await world.logIn(person.id)
    const list = async (path: string) =>
      (await world.graph<{ data: { id: string; access_token?: string }[] }>('GET', path, {}, token)).body.data
    expect(await list('/me/accounts')).toEqual([])
    const [portfolio, ...others] = await list('/me/businesses')
    expect([portfolio, others]).toEqual([{ id: portfolio!.id, name: 'Agency' }, []])
    const [own, ofClient] = [await list(`/${portfolio!.id}/owned_pages`), await list(`/${portfolio!.id}/client_pages`)]
    expect([own, ofClient].map((listed) => listed.map(({ id }) => id))).toEqual(pages.map(({ id }) => [id]))
    const posted = await world.graph('POST', `/${pages[1]!.id}/feed`, { message: 'Hi' }, ofClient[0]!.access_token)
    expect(posted.status).toBe(200)
    const declined = await world.logIn(person.id, { decline: ['business_management'] })
    expect(problem(await world.graph('GET', '/me/businesses', {}, declined))).toMatchObject({ code: 200 })
    const stranger = await world.newPage()
    expect(problem(await world.graph('GET', `/${portfolio!.id}/owned_pages`, {}, stranger.userToken))).toMatchObject({
      code: 100,
    })
  })

  it('a person may share no page at all', async () => {
    const { person } = world.newPerson({ pages: 0 })
    const { body } = await world.graph('GET', '/me/accounts', {}, await world.logIn(person.id))
    expect(body).toEqual({ data: [] })
  })
})

describe('a page', () => {
  it('a page returns its profile and its linked Instagram account', async () => {
    const { page, userToken, token } = await world.newPage()
    const fields = 'id,name,username,picture.type(large){url},followers_count,instagram_business_account'
    const { body } = await world.graph('GET', `/${page.id}`, { fields }, token)
    expect(body).toEqual({
      id: page.id,
      name: page.name,
      username: page.username,
      picture: { data: { url: expect.stringMatching(/^http/) } },
      followers_count: 0,
      instagram_business_account: { id: page.instagramId },
    })
    const account = await world.graph('GET', `/${page.instagramId}`, { fields: 'username,name' }, userToken)
    expect(account.body).toMatchObject({ id: page.instagramId, name: 'Ann of Instagram' })
    expect((await world.graph('GET', `/${page.id}`, { fields: 'shoe_size' }, token)).code).toBe(100)
  })

  it('a page publishes with its own token only', async () => {
    const [mine, other] = [await world.newPage(), await world.newPage()]
    const publish = (token?: string) => world.graph('POST', `/${mine.page.id}/feed`, { message: 'x' }, token)
    expect((await publish(other.token)).code).toBe(210)
    expect((await publish(mine.userToken)).code).toBe(210)
    expect((await publish()).code).toBe(104)
    expect((await publish(mine.token)).status).toBe(200)
  })

  it('a page lists its posts newest first, in pages', async () => {
    const { page, token } = await world.newPage()
    for (const message of ['one', 'two', 'three']) await world.graph('POST', `/${page.id}/feed`, { message }, token)
    const list = (params: Record<string, string>) =>
      world.graph<{ data: { message: string }[]; paging: { cursors: { after: string }; next?: string } }>(
        'GET',
        `/${page.id}/published_posts`,
        { fields: 'message,created_time', ...params },
        token,
      )
    const first = (await list({ limit: '2' })).body
    expect(first.data.map(({ message }) => message)).toEqual(['three', 'two'])
    const second = (await list({ limit: '2', after: first.paging.cursors.after })).body
    expect(second.data.map(({ message }) => message)).toEqual(['one'])
    expect([first.paging.next, second.paging.next]).toEqual([expect.any(String), undefined])
  })

  it('a page refuses the same text twice in a row', async () => {
    const { page, token } = await world.newPage()
    const publish = (message: string) => world.graph('POST', `/${page.id}/feed`, { message }, token)
    await publish('again')
    expect((await publish('again')).code).toBe(506)
    await publish('something else')
    expect((await publish('again')).status).toBe(200)
  })

  it.each([
    ['nothing', {}, { code: 100 }],
    ['too much', { message: 'x'.repeat(63_207) }, { code: 100 }],
    ['a link that is none', { link: 'example' }, { code: 100, error_subcode: 1_500 }],
    ['a link to Facebook', { link: 'https://www.facebook.com/x' }, { error_subcode: 1_609_008 }],
    ['a link that cannot be read', { link: 'https://nothing.invalid/' }, { error_subcode: 1_609_005 }],
    ['unknown photos', { attached_media: '[{"media_fbid":"1"}]' }, { code: 100 }],
    ['photos that are no list', { attached_media: '[nothing' }, { code: 100 }],
  ])('a page refuses %s', async (_, params, expected) => {
    const { page, token } = await world.newPage()
    expect(problem(await world.graph('POST', `/${page.id}/feed`, params, token))).toMatchObject(expected)
  })

  it('a page counts the calls about it and refuses too many', async () => {
    const strict = await metaWorld({ callsPerHour: 2 })
    try {
      const { page, token } = await strict.newPage()
      const ask = () => strict.graph('GET', `/${page.id}`, {}, token)
      const usageOf = ({ header }: Awaited<ReturnType<typeof ask>>) =>
        JSON.parse(header('x-business-use-case-usage')!)[page.id][0]
      expect(usageOf(await ask())).toMatchObject({ call_count: 50, estimated_time_to_regain_access: 0 })
      await ask()
      const refused = await ask()
      expect(refused.code).toBe(80_001)
      expect(usageOf(refused).estimated_time_to_regain_access).toBeGreaterThan(0)
    } finally {
      await strict.stop()
    }
  })
})

describe('photos', () => {
  const upload = (page: { id: string }, token: string, params: Record<string, string>) =>
    world.graph<{ id: string; post_id?: string }>('POST', `/${page.id}/photos`, params, token)

  it('photos are fetched, stay unpublished, and appear in a post that names them', async () => {
    const { page, token } = await world.newPage()
    const ids = []
    for (const alt_text_custom of ['Red', '']) {
      const { body } = await upload(page, token, { url: await picture(), published: 'false', alt_text_custom })
      ids.push(body.id)
    }
    const ledger = async () =>
      (await controlOf(world.meta.facebook).ledger()).filter(({ account }) => account === page.id)
    expect(await ledger()).toEqual([])
    const attached_media = JSON.stringify(ids.map((media_fbid) => ({ media_fbid })))
    const { body } = await world.graph<{ id: string }>(
      'POST',
      `/${page.id}/feed`,
      { attached_media, message: 'two', fields: 'id,permalink_url' },
      token,
    )
    expect(body).toEqual({ id: expect.stringMatching(`^${page.id}_\\d+$`), permalink_url: expect.any(String) })
    const shown = [
      { type: 'image/png', altText: 'Red' },
      { type: 'image/png', altText: '' },
    ]
    expect(await ledger()).toMatchObject([{ id: body.id, text: 'two', media: shown }])
    const fields = 'attachments{media_type,target{id},subattachments{media_type,target{id}}}'
    const post = await world.graph('GET', `/${body.id}`, { fields }, token)
    const photos = ids.map((id) => ({ media_type: 'photo', target: { id } }))
    expect(post.body).toMatchObject({
      attachments: { data: [{ media_type: 'album', subattachments: { data: photos } }] },
    })
    const again = await world.graph('POST', `/${page.id}/feed`, { attached_media, message: 'again' }, token)
    expect(problem(again)).toMatchObject({ code: 100, error_subcode: 1_366_051 })
  })

  it('a photo without published=false is a post of its own', async () => {
    const { page, token } = await world.newPage()
    const { body } = await upload(page, token, { url: await picture(), message: 'at once' })
    expect(body.post_id).toMatch(`${page.id}_`)
  })

  it('photos belong to one page', async () => {
    const [mine, other] = [await world.newPage(), await world.newPage()]
    const { body } = await upload(other.page, other.token, { url: await picture(), published: 'false' })
    const attached_media = `[{"media_fbid":"${body.id}"}]`
    expect((await world.graph('POST', `/${mine.page.id}/feed`, { attached_media }, mine.token)).code).toBe(100)
  })

  it.each([
    ['of another type', () => picture('webp'), 1_366_046],
    ['too large', () => addressOf(new Uint8Array(4_000_001), 'image/png'), 1_366_046],
    ['that are not there', async () => `${await picture()}-gone`, 2_069_019],
    ['without an address', async () => 'nowhere', 2_069_019],
  ])('photos %s are refused', async (_, url, subcode) => {
    const { page, token } = await world.newPage()
    const refused = await upload(page, token, { url: await url(), published: 'false' })
    expect(problem(refused)).toMatchObject({ code: 324, error_subcode: subcode })
  })
})

describe('videos', () => {
  it('a video can be read after a while, and is public after another', async () => {
    const slow = await metaWorld({ unreadableMs: 1_000, processingMs: 4_000 })
    try {
      const { page, token } = await slow.newPage()
      const file_url = await addressOf(film(), 'video/mp4')
      const { body } = await slow.graph<{ id: string }>(
        'POST',
        `/${page.id}/videos`,
        { file_url, description: 'Waves' },
        token,
      )
      const read = () => slow.graph('GET', `/${body.id}`, { fields: 'status,permalink_url,post_id' }, token)
      const listed = async () =>
        (await slow.graph<{ data: object[] }>('GET', `/${page.id}/videos`, {}, token)).body.data
      expect(problem(await read())).toMatchObject({ code: 100, error_subcode: 33 })
      await expect
        .poll(async () => (await read()).body, PATIENT)
        .toMatchObject({
          status: { video_status: 'processing' },
          permalink_url: `/reel/${body.id}/`,
          post_id: `${page.id}_${body.id}`,
        })
      expect(await listed()).toEqual([])
      await expect.poll(async () => (await read()).body, PATIENT).toMatchObject({ status: { video_status: 'ready' } })
      expect(await listed()).toMatchObject([{ id: body.id, description: 'Waves' }])
      expect(await controlOf(slow.meta.facebook).ledger()).toMatchObject([
        { id: body.id, text: 'Waves', media: [{ type: 'video/mp4', altText: '' }] },
      ])
    } finally {
      await slow.stop()
    }
  })

  it.each([
    ['infringes a copyright', film(), 'The copyright check failed.'],
    ['has no index', film({ indexFirst: false }).subarray(0, 900), 'The video file could not be processed.'],
    ['has only sound', film({ codec: null }), 'The video file could not be processed.'],
    ['has an unknown codec', film({ codec: 'ap4h' }), 'The video file could not be processed.'],
  ])('an accepted video that %s fails its processing, and is never public', async (_, bytes, reason) => {
    const { page, token } = await world.newPage()
    if (reason.startsWith('The copyright')) world.meta.failNextVideo(reason)
    const file_url = await addressOf(bytes, 'video/mp4')
    const { body } = await world.graph<{ id: string }>('POST', `/${page.id}/videos`, { file_url }, token)
    const read = async () => (await world.graph('GET', `/${body.id}`, { fields: 'status' }, token)).body
    await expect.poll(read, PATIENT).toMatchObject({
      status: {
        video_status: 'error',
        processing_phase: { status: 'error', errors: [{ message: reason }] },
        publishing_phase: { status: 'not_started' },
      },
    })
    const { body: listed } = await world.graph('GET', `/${page.id}/published_posts`, {}, token)
    expect(listed).toEqual({ data: [] })
    expect((await controlOf(world.meta.facebook).ledger()).filter(({ account }) => account === page.id)).toEqual([])
  })

  it.each([
    ['of another type', () => picture(), 352],
    ['that are not there', async () => `${await picture()}-gone`, 389],
  ])('videos %s are refused', async (_, url, code) => {
    const { page, token } = await world.newPage()
    const refused = await world.graph('POST', `/${page.id}/videos`, { file_url: await url() }, token)
    expect(refused.code).toBe(code)
  })
})

describe('drafts', () => {
  const DRAFT = { published: 'false', unpublished_content_type: 'DRAFT' }
  const ledgerOf = async (page: { id: string }) =>
    (await controlOf(world.meta.facebook).ledger()).filter(({ account }) => account === page.id)

  it('a draft is shown to its page only, and published once under its id by calls with its own token', async () => {
    const [{ page, token, userToken }, stranger] = [await world.newPage(), await world.newPage()]
    const { body } = await world.graph<{ id: string }>('POST', `/${page.id}/feed`, { message: 'Soon', ...DRAFT }, token)
    const read = (as: string) => world.graph('GET', `/${body.id}`, { fields: 'is_published,message' }, as)
    expect((await read(token)).body).toMatchObject({ is_published: false, message: 'Soon' })
    expect((await read(stranger.token)).code).toBe(100)
    const address = `${world.meta.facebook.url}/${body.id}`
    expect((await fetch(address)).status).toBe(404)
    expect(await ledgerOf(page)).toEqual([])
    const publish = (as: string, is_published = 'true') => world.graph('POST', `/${body.id}`, { is_published }, as)
    expect((await publish(userToken)).code).toBe(210)
    expect((await publish(token, 'false')).code).toBe(100)
    for (let call = 0; call < 2; call++) expect((await publish(token)).body).toEqual({ success: true })
    expect(await ledgerOf(page)).toMatchObject([{ id: body.id, text: 'Soon' }])
    expect((await fetch(address)).status).toBe(200)
  })

  it('a draft with the text of the last post is refused when it is published', async () => {
    const { page, token } = await world.newPage()
    const { body } = await world.graph<{ id: string }>(
      'POST',
      `/${page.id}/feed`,
      { message: 'again', ...DRAFT },
      token,
    )
    await world.graph('POST', `/${page.id}/feed`, { message: 'again' }, token)
    expect((await world.graph('POST', `/${body.id}`, { is_published: 'true' }, token)).code).toBe(506)
  })

  it('a video is published by its id once it is ready, and a deleted draft is gone', async () => {
    const { page, token } = await world.newPage()
    const create = async () => {
      const file_url = await addressOf(film(), 'video/mp4')
      return (await world.graph<{ id: string }>('POST', `/${page.id}/videos`, { file_url, ...DRAFT }, token)).body.id
    }
    const publish = (id: string) => world.graph('POST', `/${id}`, { published: 'true' }, token)
    const [id, other] = [await create(), await create()]
    expect((await publish(id)).code).toBe(100)
    await expect.poll(async () => (await publish(id)).body, PATIENT).toEqual({ success: true })
    expect(await ledgerOf(page)).toMatchObject([{ id }])
    const { body } = await world.graph('GET', `/${other}`, { fields: 'published' }, token)
    expect(body).toMatchObject({ published: false })
    expect((await world.graph('DELETE', `/${other}`, {}, token)).body).toEqual({ success: true })
    expect(problem(await world.graph('GET', `/${other}`, {}, token))).toMatchObject({ code: 100, error_subcode: 33 })
  })

  it('a page may refuse drafts, and an unknown kind of unpublished post is refused', async () => {
    const { page, token } = await world.newPage()
    const create = (unpublished_content_type: string, as = { page, token }) =>
      world.graph('POST', `/${as.page.id}/feed`, { message: 'x', ...DRAFT, unpublished_content_type }, as.token)
    expect((await create('SKETCH')).code).toBe(100)
    const { person, pages } = world.newPerson({ takesDrafts: false })
    const login = await world.logIn(person.id)
    const { body } = await world.graph<{ access_token: string }>(
      'GET',
      `/${pages[0]!.id}`,
      { fields: 'access_token' },
      login,
    )
    expect((await create('DRAFT', { page: pages[0]!, token: body.access_token })).code).toBe(200)
  })
})

describe('comments', () => {
  async function newCommenter(scopes = [...SCOPES, 'pages_manage_engagement']) {
    const { page, token } = await world.newPage(scopes)
    const post = world.meta.publishElsewhere(page, 'a post')
    const path = `/${post.id}/comments`
    return {
      page,
      post,
      token,
      comment: (message: string, more = {}) => world.graph('POST', path, { message, ...more }, token),
      list: (params: Record<string, string> = {}) => world.graph('GET', path, params, token),
    }
  }

  it('a comment of the page is below its post, with a URL, and counts as a record of the page', async () => {
    const { page, post, token, comment, list } = await newCommenter()
    const { body } = await comment(' a comment ', { fields: 'id,permalink_url' })
    expect(body).toEqual({
      id: expect.stringMatching(/^\d+_\d+$/),
      permalink_url: expect.stringContaining('comment_id='),
    })
    const shown = { id: body['id'], message: 'a comment', from: { id: page.id } }
    expect((await list({ fields: 'id,message,from{id}' })).body['data']).toEqual([shown])
    const ledger = await controlOf(world.meta.facebook).ledger()
    expect(ledger).toContainEqual(expect.objectContaining({ account: page.id, text: 'a comment', replyTo: post.id }))
    const counted = await world.graph('GET', `/${post.id}`, { fields: 'comments' }, token)
    expect(counted.body).toMatchObject({ comments: { summary: { total_count: 1 } } })
  })

  it('comments are listed from old to new unless another order is requested', async () => {
    const { comment, list } = await newCommenter()
    for (const text of ['one', 'two']) await comment(text)
    const listed = async (params: Record<string, string> = {}) =>
      ((await list(params)).body['data'] as { message: string }[]).map(({ message }) => message)
    expect(await listed()).toEqual(['one', 'two'])
    expect(await listed({ order: 'reverse_chronological', filter: 'stream' })).toEqual(['two', 'one'])
    expect(await list({ order: 'best' })).toMatchObject({ code: 100 })
  })

  it('a comment is refused when it is too long, below an unknown post, and without the permission', async () => {
    const { post, token, comment } = await newCommenter()
    expect(await comment('x'.repeat(8_001))).toMatchObject({ code: 100 })
    expect(await comment('')).toMatchObject({ code: 100 })
    const unknown = await world.graph('POST', `/${post.pageId}_1/comments`, { message: 'x' }, token)
    expect(problem(unknown)).toMatchObject({ code: 100, error_subcode: 33 })
    const without = await newCommenter(SCOPES)
    expect(await without.comment('x')).toMatchObject({ status: 403, code: 200 })
    expect((await without.list()).status).toBe(200)
  })
})

describe('the sandbox', () => {
  it('the pages show accounts and posts to everyone', async () => {
    const { page, token } = await world.newPage()
    const url = await picture()
    const { body } = await world.graph<{ post_id: string }>(
      'POST',
      `/${page.id}/photos`,
      { url, message: 'Look <here>', alt_text_custom: 'Red "field"' },
      token,
    )
    const start = await (await fetch(world.meta.facebook.url)).text()
    expect(start).toContain(page.name)
    expect(start).toContain('Look &lt;here&gt;')
    const address = `${world.meta.facebook.url}/${body.post_id.replace('_', '/posts/')}`
    const shown = await (await fetch(address)).text()
    expect(shown).toContain(`src="${url}" alt="Red &quot;field&quot;"`)
    expect(await (await fetch(`${world.meta.facebook.url}/${body.post_id}`)).text()).toBe(shown)
    await controlOf(world.meta.facebook).deletePost(body.post_id)
    expect((await fetch(address)).status).toBe(404)
    expect((await world.graph('GET', `/${body.post_id}`, {}, token)).code).toBe(100)
  })

  it('accounts, posts and addresses survive a restart', async () => {
    const dir = temporaryFolder()
    const name = uniqueName('Ann ')
    const first = await startMeta({ dir })
    const { pages } = first.createPerson({ name, pages: [{ name: 'Kept', instagram: { username: 'kept' } }] })
    first.publishElsewhere(pages[0]!, 'still here')
    await first.stop()
    const second = await startMeta({ dir })
    try {
      const addresses = ({ facebook, instagram }: Meta) => [facebook.url, facebook.control, instagram.url]
      expect(addresses(second)).toEqual(addresses(first))
      expect(second.createPerson({ name }).pages).toEqual(pages)
      expect(await controlOf(second.facebook).ledger()).toMatchObject([{ text: 'still here' }])
    } finally {
      await second.stop()
    }
  })
})
