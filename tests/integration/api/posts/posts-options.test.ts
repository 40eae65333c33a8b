import { describe, expect, it } from 'vitest'
import { postBody, withCallers, type Caller, type PostsWorld } from '../../../support/posts-api.ts'
import { shared } from '../../../support/shared-worlds.ts'

let world: PostsWorld
shared.beforeAll(async ({ api }) => {
  world = withCallers(api)
})

const OPTIONS = {
  mastodon: { visibility: 'unlisted', spoilerText: 'Spoiler', sensitive: true, language: 'en' },
  bluesky: { languages: ['en', 'pt-BR'], labels: ['nudity'], replyGate: ['mentioned', 'following'] },
  threads: { replyControl: 'following', topicTag: 'Harbours', poll: { options: ['Yes', 'No'] }, crossreshare: true },
  instagram: {
    kind: 'reel',
    coverAt: 1.5,
    collaborators: ['ann'],
    userTags: [{ username: 'bob' }],
    shareToFeed: false,
  },
  tumblr: { tags: ['harbour'], sourceUrl: 'https://harbours.example', state: 'private' },
}
const draftBody = (options: object, more: object = {}) =>
  postBody({
    content: { text: 'Hello', options },
    selectedPlatforms: ['bluesky', 'threads', 'mastodon', 'tumblr'],
    status: 'DRAFT',
    ...more,
  })

async function create(who: Caller, body: object): Promise<string> {
  const { status, body: answer } = await who.call('POST', '/', body)
  expect([status, answer.errors]).toEqual([201, undefined])
  return answer.data.postId
}
const read = async (who: Caller, postId: string) => (await who.call('GET', `/${postId}`)).body.data.post
const brief = (problems: { path: string; code: string }[] = []) => problems.map(({ path, code }) => [path, code])

describe('the options of a post', () => {
  it('are stored, returned, and accepted back by strict clients', async () => {
    const ann = await world.caller()
    const own = { bluesky: { options: { bluesky: { languages: ['de'] } } }, tumblr: { options: {} } }
    const postId = await create(ann, draftBody(OPTIONS, { platformSpecificContent: own }))
    const post = await read(ann, postId)
    expect(post.content).toEqual({ text: 'Hello', mediaItems: [], options: OPTIONS })
    expect(post.platformSpecificContent).toEqual(own)
    const saved = await ann.call('PUT', `/${postId}`, post, { prefer: 'handling=strict' })
    expect([saved.status, saved.body.errors]).toEqual([200, undefined])
    expect((await read(ann, postId)).content).toEqual(post.content)
  })

  it('stay when a patch changes the text, and are replaced or removed when it has them', async () => {
    const ann = await world.caller()
    const postId = await create(ann, draftBody(OPTIONS))
    const patch = async (content: object) => {
      expect((await ann.call('PATCH', `/${postId}`, { content })).status).toBe(200)
      return (await read(ann, postId)).content
    }
    expect(await patch({ text: 'Changed' })).toEqual({ text: 'Changed', mediaItems: [], options: OPTIONS })
    const options = { mastodon: { visibility: 'private' } }
    expect(await patch({ options })).toEqual({ text: 'Changed', mediaItems: [], options })
    expect(await patch({ options: {} })).toEqual({ text: 'Changed', mediaItems: [] })
  })

  it.each([
    ['content.options.mastodon.visibilty', { mastodon: { visibilty: 'private' } }],
    ['content.options.mastodon.poll.hideTotal', { mastodon: { poll: { options: ['a', 'b'], hideTotal: true } } }],
    ['content.options.threads.poll.expiresIn', { threads: { poll: { options: ['a', 'b'], expiresIn: 300 } } }],
    ['content.options.instagram.userTags.0.z', { instagram: { userTags: [{ username: 'ann', z: 1 }] } }],
    ['content.options.facebook', { facebook: { kind: 'story' } }],
    ['content.options.myspace', { myspace: {} }],
  ])('%s is unknown, and refused for every client', async (path, options) => {
    const ann = await world.caller()
    const postId = await create(ann, draftBody({}))
    for (const [method, url] of [
      ['POST', '/'],
      ['POST', '/validate'],
      ['PUT', `/${postId}`],
      ['PATCH', `/${postId}`],
    ] as const) {
      const { status, body } = await ann.call(method, url, draftBody(options))
      expect([method, status, brief(body.errors)]).toEqual([method, 400, [[path, 'UNKNOWN_FIELD']]])
    }
    const override = { platformSpecificContent: { mastodon: { options } } }
    const { body } = await ann.call('POST', '/', draftBody({}, override))
    expect(brief(body.errors)).toEqual([[`platformSpecificContent.mastodon.${path.slice(8)}`, 'UNKNOWN_FIELD']])
  })

  it.each([
    ['content.options.mastodon.visibility', { mastodon: { visibility: 'secret' } }],
    ['content.options.mastodon.poll.expiresIn', { mastodon: { poll: { options: ['a', 'b'] } } }],
    ['content.options.bluesky.languages', { bluesky: { languages: ['en', 'de', 'fr', 'es'] } }],
    ['content.options.threads.topicTag', { threads: { topicTag: 'A. Harbour' } }],
    ['content.options.threads.replyControl', { threads: { replyControl: 'friends' } }],
    ['content.options.tumblr.tags.0', { tumblr: { tags: ['one,two'] } }],
    ['content.options.instagram.kind', { instagram: { kind: 'carousel' } }],
    ['content.options.instagram.collaborators', { instagram: { collaborators: ['a', 'b', 'c', 'd'] } }],
    ['content.options.instagram.userTags.0.x', { instagram: { userTags: [{ username: 'ann', x: 1.1 }] } }],
    ['content.options.tumblr.state', { tumblr: { state: 'queue' } }],
  ])('%s with a value that is not allowed is 400', async (path, options) => {
    const ann = await world.caller()
    const { status, body } = await ann.call('POST', '/', draftBody(options))
    expect([status, body.errors[0].path]).toEqual([400, path])
  })
})

describe('options that a platform does not publish', () => {
  const poll = { options: ['Yes', 'No'], expiresIn: 3_600 }

  it.each([
    [
      'content.options.mastodon.poll.options',
      'POLL_OPTIONS',
      { poll: { ...poll, options: ['1', '2', '3', '4', '5'] } },
    ],
    ['content.options.mastodon.poll.expiresIn', 'POLL_TIME', { poll: { ...poll, expiresIn: 10 } }],
  ])('%s is %s', async (path, code, mastodon) => {
    const ann = await world.caller()
    const { data } = (await ann.call('POST', '/validate', draftBody({ mastodon }))).body
    expect([data.valid, brief(data.errors)]).toEqual([false, [[path, code]]])
  })

  it('a poll beside media names the override that the media come from', async () => {
    const ann = await world.caller()
    const mediaItems = [{ storageKey: `posts/${ann.userId}/a.png`, mimeType: 'image/png' }]
    const override = { mastodon: { mediaItems, options: { mastodon: { poll } } } }
    const body = draftBody({}, { platformSpecificContent: override, status: 'SCHEDULED', scheduledAt: '2090-01-01' })
    const { data } = (await ann.call('POST', '/validate', body)).body
    expect(brief(data.errors)).toContainEqual([
      'platformSpecificContent.mastodon.options.mastodon.poll',
      'POLL_WITH_MEDIA',
    ])
  })

  it('a quote of something else and a reply gate that contradicts itself are refused', async () => {
    const ann = await world.caller()
    const bluesky = { quoteUrl: 'https://example.com', replyGate: ['none', 'mentioned'] }
    const { status, body } = await ann.call('POST', '/', draftBody({ bluesky }, { status: 'PENDING' }))
    expect([status, brief(body.errors)]).toEqual([
      400,
      [
        ['content.options.bluesky.quoteUrl', 'URL_INVALID'],
        ['content.options.bluesky.replyGate', 'REPLY_GATE'],
      ],
    ])
  })

  it('a content warning counts in the length on Mastodon', async () => {
    const ann = await world.caller()
    const { data } = (await ann.call('POST', '/validate', draftBody({ mastodon: { spoilerText: 'x'.repeat(500) } })))
      .body
    expect(data.platforms.mastodon.length).toBe(505)
    expect(data.platforms.bluesky.length).toBe(5)
    expect(brief(data.errors)).toEqual([['content.text', 'TEXT_TOO_LONG']])
  })
})
