import type { SandboxResponse } from '../proxied-platform.ts'
import type { Crowd } from '../shared/crowd.ts'
import { inWordsOf } from '../shared/metric-words.ts'
import type { Params } from '../shared/params.ts'
import { readBlocks } from './blocks.ts'
import type { AccountLimits } from './limits.ts'
import type { MediaStore } from './media.ts'
import { envelope, Refusal } from './refusal.ts'
import type { Account, Block, Blog, Post, State } from './state.ts'

const STATES = ['published', 'draft', 'private', 'queue'] as const
const MAX_PAGE_SIZE = 20
const NOTES_PAGE = 50
/** Tumblr's names of our counts. */
export const WORDS = { shares: 'reblogs', comments: 'replies' }

interface PostsOptions {
  state: State
  media: MediaStore
  limits: AccountLimits
  base(): string
  /** True when the response to publishing a draft names the draft, which no longer exists. */
  answersDraftId: boolean
  crowd: Crowd
}

/** The posts of all blogs. A published draft gets another id and is no longer found by the old one. */
export function createPosts({ state, media, limits, base, answersDraftId, crowd }: PostsOptions) {
  const ofBlog = new Map<string, Post[]>()
  for (const post of state.posts.values()) listOf(post.blogId).push(post)

  /** Returns the posts of a blog in the order of their last change of state. */
  function listOf(blogId: string): Post[] {
    const list = ofBlog.get(blogId) ?? []
    ofBlog.set(blogId, list)
    return list
  }

  function store(post: Post): Post {
    listOf(post.blogId).push(post)
    return state.posts.set(post.id, post)
  }

  function remove(post: Post): void {
    state.posts.delete(post.id)
    const list = listOf(post.blogId)
    list.splice(list.indexOf(post), 1)
  }

  async function create(account: Account, blog: Blog, params: Params): Promise<SandboxResponse> {
    const wanted = readPost(params)
    const content = await media.take(account, readBlocks(wanted.content), params.files.filter(isUpload))
    limits.assertRoom(account, { posts: 1 })
    limits.count(account, { posts: 1 })
    const id = state.newId()
    store({ ...wanted, id, genesisId: null, blogId: blog.uuid, content, timestamp: now() })
    return envelope(201, { id, state: wanted.state, display_text: `Posted to ${blog.name}` })
  }

  async function edit(account: Account, blog: Blog, id: string, params: Params): Promise<SandboxResponse> {
    const before = find(blog, id)
    const wanted = readPost(params)
    const content = await media.take(account, readBlocks(wanted.content), params.files.filter(isUpload))
    // Storing the files took time: of two calls that publish one draft, the second finds it gone.
    if (find(blog, id) !== before) throw new Refusal(404, 'Not Found')
    if (before.state === 'published' && wanted.state === 'published') {
      // Changed in place, since the blog's list holds the same record.
      const edits = [...(before.edits ?? []), textOf(content)]
      state.posts.set(id, Object.assign(before, wanted, { content, edits }))
      return envelope(200, { id })
    }
    const isPublishing = wanted.state === 'published'
    remove(before)
    const changed = isPublishing
      ? { id: state.newId(), genesisId: before.id, timestamp: now() }
      : { id, genesisId: before.genesisId, timestamp: before.timestamp }
    const after = store({ ...before, ...wanted, ...changed, content })
    return envelope(200, { id: answersDraftId ? id : after.id })
  }

  function find(blog: Blog, id: string): Post {
    const post = state.posts.get(id)
    if (post?.blogId === blog.uuid) return post
    throw new Refusal(404, 'Not Found')
  }

  /** @param isAuthor drafts and their origin are visible to their author only */
  function present(post: Post, isAuthor: boolean) {
    const blog = state.blogs.get(post.blogId)!
    const { id, genesisId, timestamp, tags, sourceUrl } = post
    const isReady = post.content.every(media.isReady)
    return {
      object_type: 'post',
      type: 'blocks',
      original_type: 'regular',
      blog_name: blog.name,
      // JavaScript cannot hold the id exactly as a number.
      id: Number(id),
      id_string: id,
      ...(isAuthor && genesisId !== null && { genesis_post_id: genesisId }),
      post_url: urlOf(post),
      timestamp,
      state: isReady ? post.state : 'transcoding',
      tags,
      ...(sourceUrl !== undefined && { source_url: sourceUrl }),
      note_count: notesIn(post).total,
      content: post.content.map(media.present),
      layout: [],
      trail: [],
    }
  }

  function notesIn({ content, timestamp, metrics }: Post) {
    const simulated = crowd.countsOf({ text: textOf(content), publishedAt: timestamp * 1_000 }, Date.now())
    const { likes = 0, reblogs = 0, replies = 0 } = { ...inWordsOf(WORDS, simulated), ...metrics }
    return { likes, reblogs, replies, total: likes + reblogs + replies }
  }

  function urlOf({ id, blogId }: Post): string {
    return `${base()}/${state.blogs.get(blogId)!.name}/${id}`
  }

  function list(blog: Blog, params: Params, isAuthor: boolean): SandboxResponse {
    const id = params.text('id')
    const [after, before] = [numberOf(params, 'after', 0), numberOf(params, 'before', Infinity)]
    const published = listOf(blog.uuid).filter(
      (post) =>
        post.state === 'published' &&
        post.timestamp > after &&
        post.timestamp < before &&
        (id === undefined || post.id === id),
    )
    if (id !== undefined && published.length === 0) throw new Refusal(404, 'Not Found')
    const sorted = params.text('sort') === 'asc' ? published : published.toReversed()
    const offset = numberOf(params, 'offset', 0)
    const posts = sorted.slice(offset, offset + Math.min(numberOf(params, 'limit', MAX_PAGE_SIZE), MAX_PAGE_SIZE))
    return envelope(200, { posts: posts.map((post) => present(post, isAuthor)), total_posts: published.length })
  }

  /** Returns a page of drafts, newest first. */
  function drafts(blog: Blog, params: Params): SandboxResponse {
    const before = params.text('before_id')
    const found = listOf(blog.uuid)
      .filter((post) => post.state === 'draft' && (before === undefined || BigInt(post.id) < BigInt(before)))
      .toReversed()
    return envelope(200, { posts: found.slice(0, MAX_PAGE_SIZE).map((post) => present(post, true)) })
  }

  return {
    create,
    edit,
    find,
    remove,
    present,
    list,
    drafts,
    listOf,
    urlOf,

    /** Makes a post private, as its author can at any time. */
    makePrivate(id: string): void {
      const post = state.posts.get(id)!
      state.posts.set(id, Object.assign(post, { state: 'private' as const }))
    },

    /** Publishes as its author does with Tumblr's own app. */
    publishElsewhere(blog: Blog, text: string, timestamp = now()): Post {
      const content = [{ type: 'text', text }]
      const id = state.newId()
      return store({ id, genesisId: null, blogId: blog.uuid, state: 'published', content, tags: [], timestamp })
    },

    notes(blog: Blog, params: Params): SandboxResponse {
      const post = find(blog, params.text('id') ?? '')
      const { likes, reblogs, replies, total: total_notes } = notesIn(post)
      const [liked, reblogged, replied] = [
        notesOf('like', likes),
        notesOf('reblog', reblogs),
        notesOf('reply', replies),
      ]
      if (params.text('mode') !== 'conversation') {
        return envelope(200, { notes: [...replied, ...reblogged, ...liked].slice(0, NOTES_PAGE), total_notes })
      }
      return envelope(200, {
        notes: replied.slice(0, NOTES_PAGE),
        rollup_notes: [...reblogged, ...liked].slice(0, NOTES_PAGE),
        total_notes,
        total_likes: likes,
        total_reblogs: reblogs,
      })
    },
  }
}

export function textOf(content: Block[]): string {
  return content.flatMap(({ type, text }) => (type === 'text' ? [text] : [])).join('\n\n')
}

export type Posts = ReturnType<typeof createPosts>

/** Generates anonymous notes. */
function notesOf(type: 'like' | 'reblog' | 'reply', count: number): object[] {
  return Array.from({ length: Math.min(count, NOTES_PAGE) }, (_, index) => ({
    type,
    timestamp: now(),
    blog_name: `somebody-${index}`,
    blog_uuid: `t:somebody${index}`,
    blog_url: `https://somebody-${index}.tumblr.com/`,
    followed: false,
    avatar_shape: 'square',
    ...(type === 'reply' && { reply_text: 'Well said' }),
  }))
}

/** Reads JSON, or the part of that name in a multipart body. */
function readPost(params: Params): Pick<Post, 'state' | 'tags' | 'sourceUrl'> & { content: unknown } {
  const body = (params.json ?? parse(params)) as Record<string, unknown> | null
  if (typeof body !== 'object' || body === null) throw new Refusal(400, 'Bad request: no post', 8001)
  const { content, state = 'published', tags = '', source_url: sourceUrl } = body
  if (!STATES.includes(state as Post['state'])) throw new Refusal(400, 'Bad request: state', 8001)
  if (typeof tags !== 'string') throw new Refusal(400, 'Bad request: tags', 8001)
  const source = typeof sourceUrl === 'string' && URL.canParse(sourceUrl) && { sourceUrl }
  return { content, state: state as Post['state'], tags: tags.split(',').filter(Boolean), ...source }
}

function parse(params: Params): unknown {
  try {
    return JSON.parse(params.text('json') ?? 'null') as unknown
  } catch {
    return null
  }
}

function isUpload([name]: [string, File]): boolean {
  return name !== 'json'
}

function numberOf(params: Params, name: string, fallback: number): number {
  const value = Number(params.text(name) ?? fallback)
  if (Number.isNaN(value)) throw new Refusal(400, `Bad request: ${name}`)
  return value
}

/** Returns the time in Unix seconds. */
function now(): number {
  return Math.floor(Date.now() / 1_000)
}
