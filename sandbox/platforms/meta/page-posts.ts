import type { SandboxResponse } from '../proxied-platform.ts'
import { selectFields } from '../shared/graph/fields.ts'
import { badParameter, callerOf, GraphRefusal, noSuchObject } from '../shared/graph/graph.ts'
import type { Counting } from '../shared/graph/insights.ts'
import { pageThrough } from '../shared/graph/lists.ts'
import type { CommentStore } from './comment-store.ts'
import { findVideoProblem, pullPhoto, pullVideo } from './files.ts'
import type { MetaCall, MetaModule } from './graph.ts'
import { createPageNodes } from './page-nodes.ts'
import type { MetaState, Page, PagePost, Photo } from './state.ts'
import { requireScopes, requireToRead } from './tokens.ts'

const MAX_CHARACTERS = 63_206
const MAX_PHOTOS = 10
const UNPUBLISHED_KINDS = ['SCHEDULED', 'DRAFT', 'ADS_POST', 'INLINE_CREATED', 'REVIEWABLE_BRANDED_CONTENT']

interface PagePostsOptions {
  state: MetaState
  comments: CommentStore
  counting: Counting
  base(): string
  /** How long the processing of a video takes, milliseconds; it is invisible until then. */
  processingMs: number
  /** How long a new video cannot be read by its id, milliseconds. */
  unreadableMs: number
}

/** Publishes posts, photos and videos of pages. */
export function createPagePosts({ state, comments, counting, base, processingMs, unreadableMs }: PagePostsOptions) {
  const { postNode, videoNode, photoNode, addressOf } = createPageNodes({ state, comments, counting, base })
  const ofPage = new Map<string, PagePost[]>()
  for (const post of state.posts.values()) listOf(post.pageId).push(post)
  const nextVideoProblems: string[] = []

  /** Returns the posts of a page, oldest first. */
  function listOf(pageId: string): PagePost[] {
    const list = ofPage.get(pageId) ?? []
    ofPage.set(pageId, list)
    return list
  }

  function add(post: PagePost): PagePost {
    listOf(post.pageId).push(post)
    return state.posts.set(post.id, post)
  }

  /** @throws GraphRefusal unless the token belongs to the page in the path */
  function pageOf(call: MetaCall): Page {
    const caller = callerOf(call)
    const page = state.pages.get(call.ids[0]!)
    if (!page) throw noSuchObject(call.ids[0]!, call.method)
    if (caller.page?.id !== page.id) {
      throw new GraphRefusal({
        code: 210,
        status: 403,
        message: '(#210) A page access token is required to request this resource.',
      })
    }
    requireToRead(caller, 'pages_read_engagement')
    if (call.method !== 'GET') {
      requireScopes(caller, 'pages_manage_posts')
      if (!page.tasks.includes('CREATE_CONTENT') && !page.tasks.includes('MANAGE')) {
        throw notAllowed('The user must be able to perform the task CREATE_CONTENT on the page.')
      }
    }
    return page
  }

  /**
   * "published: Whether a story is shown about this newly published object", "unpublished_content_type: ... DRAFT"
   * (Page Feed and Page Videos, read in November 2026).
   * @throws GraphRefusal
   */
  function publicationOf({ params }: MetaCall, { takesDrafts }: Page): number | null {
    const kind = params.get('unpublished_content_type')
    if (kind !== undefined && !UNPUBLISHED_KINDS.includes(kind)) {
      throw badParameter(`Param unpublished_content_type must be one of {${UNPUBLISHED_KINDS.join(', ')}}`)
    }
    const isPublished = params.get('published') !== 'false'
    if (isPublished && kind !== undefined) throw badParameter('Param unpublished_content_type is for unpublished posts')
    if (kind === 'DRAFT' && !takesDrafts) throw notAllowed('The page takes no drafts.')
    return isPublished ? Date.now() : null
  }

  function publishToFeed(call: MetaCall): SandboxResponse {
    const page = pageOf(call)
    const publishedAt = publicationOf(call, page)
    const { params } = call
    const message = (params.get('message') ?? '').trim()
    const link = params.get('link') ?? null
    const photos = attachedPhotos(page, params.list('attached_media'))
    assertMessage(message)
    assertLink(link)
    if (message === '' && link === null && photos.length === 0) {
      throw badParameter('Missing message or attachment')
    }
    if (photos.length === 0 && publishedAt !== null) assertNew(page, message, link)
    const post = add({
      id: state.newId(`${page.id}_`),
      pageId: page.id,
      message,
      link,
      photoIds: photos.map(({ id }) => id),
      videoId: null,
      publishedAt,
      createdAt: Date.now(),
    })
    for (const photo of photos) state.photos.set(photo.id, { ...photo, postId: post.id })
    return { status: 200, body: selectFields(postNode(post), params.get('fields') ?? 'id') }
  }

  function attachedPhotos(page: Page, attached: string[]): Photo[] {
    if (attached.length > MAX_PHOTOS) throw badParameter(`Param attached_media takes at most ${MAX_PHOTOS} photos`)
    return attached.map((one, index) => {
      const photo = state.photos.get(mediaId(one))
      if (!photo || photo.pageId !== page.id) {
        throw badParameter(`Param attached_media[${index}] must be a valid ID of an unpublished photo`)
      }
      if (photo.postId !== null) {
        throw new GraphRefusal({
          code: 100,
          subcode: 1_366_051,
          message: '(#100) Invalid parameter',
          userTitle: 'Already Posted',
          userMessage: 'These photos were already posted.',
        })
      }
      return photo
    })
  }

  /** Refuses the same text twice in a row. */
  function assertNew(page: Page, message: string, link: string | null): void {
    const [before] = listOf(page.id)
      .filter(({ publishedAt }) => publishedAt !== null)
      .toSorted((one, other) => other.publishedAt! - one.publishedAt!)
    const isSame =
      before !== undefined &&
      before.message === message &&
      before.link === link &&
      before.photoIds.length === 0 &&
      before.videoId === null
    if (!isSame) return
    throw new GraphRefusal({
      code: 506,
      subcode: 1_455_006,
      message: '(#506) Duplicate status message',
      userTitle: 'Duplicate Status Update',
      userMessage:
        'This status update is identical to the last one you posted. Try posting something different, or delete your previous update.',
    })
  }

  async function addPhoto(call: MetaCall): Promise<SandboxResponse> {
    const page = pageOf(call)
    const { params } = call
    const isPublished = params.get('published') !== 'false'
    const file = await pullPhoto(params.get('url'))
    const photo = state.photos.set(
      ...keyed({
        id: state.newId(),
        pageId: page.id,
        url: params.get('url')!,
        mimeType: file.mimeType,
        altText: params.get('alt_text_custom') ?? '',
        postId: null,
        createdAt: Date.now(),
      }),
    )
    if (!isPublished) return { status: 200, body: { id: photo.id } }
    const message = (params.get('message') ?? params.get('caption') ?? '').trim()
    assertMessage(message)
    const post = add({
      id: state.newId(`${page.id}_`),
      pageId: page.id,
      message,
      link: null,
      photoIds: [photo.id],
      videoId: null,
      publishedAt: Date.now(),
      createdAt: Date.now(),
    })
    state.photos.set(photo.id, { ...photo, postId: post.id })
    return { status: 200, body: { id: photo.id, post_id: post.id } }
  }

  async function addVideo(call: MetaCall): Promise<SandboxResponse> {
    const page = pageOf(call)
    const { params } = call
    const publishedAt = publicationOf(call, page)
    const description = (params.get('description') ?? '').trim()
    assertMessage(description)
    const file = await pullVideo(params.get('file_url'))
    const now = Date.now()
    const video = state.videos.set(
      ...keyed({
        id: state.newId(),
        pageId: page.id,
        url: params.get('file_url')!,
        mimeType: file.mimeType,
        description,
        problem: nextVideoProblems.shift() ?? findVideoProblem(file),
        readableAt: now + unreadableMs,
        readyAt: now + processingMs,
        createdAt: now,
      }),
    )
    add({
      id: `${page.id}_${video.id}`,
      pageId: page.id,
      message: description,
      link: null,
      photoIds: [],
      videoId: video.id,
      publishedAt,
      createdAt: now,
    })
    return { status: 200, body: { id: video.id } }
  }

  /**
   * "Publishing a previously unpublished post. (Unpublishing a post is not supported)" (Page Post, `is_published`; Video, `published`). What a
   * repeat answers is not documented. The post keeps its id, and the time at which it was created.
   */
  function updatePost(call: MetaCall): SandboxResponse {
    const [id = ''] = call.ids
    const video = state.videos.get(id)
    const post = state.posts.get(video ? `${video.pageId}_${id}` : id)
    if (!post) throw noSuchObject(id, call.method)
    const page = pageOf({ ...call, ids: [post.pageId] })
    const message = call.params.get('message')
    if (message !== undefined && post.publishedAt !== null) return edit(post, message.trim())
    if (call.params.get(video ? 'published' : 'is_published') !== 'true') throw badParameter('Nothing to change')
    if (post.publishedAt === null) {
      if (!isReady(post.videoId)) throw badParameter('The video is not ready')
      if (post.videoId === null && post.photoIds.length === 0) assertNew(page, post.message, post.link)
      const now = Date.now()
      // Changed in place, since the page's list holds the same record.
      state.posts.set(post.id, Object.assign(post, { publishedAt: now, changedAt: now }))
    }
    return { status: 200, body: { success: true } }
  }

  /** "An app can only update a Page post if the post was made using that app" (Pages API, Posts). Posts with a video are not documented. */
  function edit(post: PagePost, message: string): SandboxResponse {
    if (post.isByPerson) throw notAllowed('The post was not made using this application.')
    if (post.videoId !== null) throw badParameter('Nothing to change')
    if (message === '') throw badParameter('Missing message or attachment')
    assertMessage(message)
    rewrite(post, message)
    return { status: 200, body: { success: true } }
  }

  /** Changed in place, since the page's list holds the same record. Times are whole seconds. */
  function rewrite(post: PagePost, message: string): void {
    const changedAt = Math.max(Date.now(), post.createdAt + 1_000)
    state.posts.set(post.id, Object.assign(post, { message, changedAt, edits: [...(post.edits ?? []), message] }))
  }

  function isReady(videoId: string | null): boolean {
    const video = videoId === null ? null : state.videos.get(videoId)!
    return video === null || (video.problem === null && Date.now() >= video.readyAt)
  }

  const isPublic = ({ publishedAt, videoId }: PagePost) => publishedAt !== null && isReady(videoId)

  /** Finds a post by its id, or a video's post by the id of the video. */
  const findPost = (id: string): PagePost | undefined =>
    state.posts.get(id) ?? state.posts.get(`${state.videos.get(id)?.pageId}_${id}`)

  /** The public posts of a page, newest first. */
  const publicPosts = (pageId: string) => listOf(pageId).filter(isPublic).toReversed()

  function listPosts(call: MetaCall): SandboxResponse {
    const page = pageOf(call)
    return pageThrough(publicPosts(page.id), call.params, (post) =>
      selectFields(postNode(post), call.params.get('fields')),
    )
  }

  function listVideos(call: MetaCall): SandboxResponse {
    const page = pageOf(call)
    const videos = listOf(page.id).flatMap(({ videoId }) =>
      isReady(videoId) ? (state.videos.get(videoId ?? '') ?? []) : [],
    )
    return pageThrough(videos.toReversed(), call.params, (video) =>
      selectFields(videoNode(video), call.params.get('fields')),
    )
  }

  function deletePost(call: MetaCall): SandboxResponse {
    const caller = callerOf(call)
    const [id = ''] = call.ids
    const post = findPost(id)
    if (!post || caller.page?.id !== post.pageId) throw noSuchObject(call.ids[0]!, call.method)
    remove(post)
    return { status: 200, body: { success: true } }
  }

  function remove(post: PagePost): void {
    state.posts.delete(post.id)
    const list = listOf(post.pageId)
    list.splice(list.indexOf(post), 1)
  }

  const module: MetaModule = {
    routes: [
      ['POST', /^\/(\d+)\/feed$/, publishToFeed],
      ['POST', /^\/(\d+)\/photos$/, addPhoto],
      ['POST', /^\/(\d+)\/videos$/, addVideo],
      ['GET', /^\/(\d+)\/(?:published_posts|feed|posts)$/, listPosts],
      ['GET', /^\/(\d+)\/videos$/, listVideos],
      ['POST', /^\/(\d+(?:_\d+)?)$/, updatePost],
      ['DELETE', /^\/(\d+(?:_\d+)?)$/, deletePost],
    ],
    node(id, { caller }) {
      const post = state.posts.get(id)
      if (post && caller && (caller.page?.id === post.pageId || isPublic(post))) {
        requireToRead(caller, 'pages_read_engagement')
        return postNode(post)
      }
      const video = state.videos.get(id)
      const shown = state.posts.get(`${video?.pageId}_${id}`)
      if (video && shown && Date.now() >= video.readableAt) {
        return caller?.page?.id === video.pageId || isPublic(shown) ? videoNode(video) : null
      }
      const photo = state.photos.get(id)
      if (!photo || caller?.page?.id !== photo.pageId) return null
      return photoNode(photo)
    },
  }

  return {
    ...module,
    listOf,
    publicPosts,
    isReady,
    addressOf,
    remove,
    findPost,
    findPublic(id: string): PagePost | null {
      const post = findPost(id)
      return post && isPublic(post) ? post : null
    },

    /** The next videos are accepted, and their processing fails for these reasons. */
    failNextVideo: (...problems: string[]): void => void nextVideoProblems.push(...problems),

    /** Publishes as a person does on the page itself. */
    publishElsewhere: (page: Pick<Page, 'id'>, message: string, createdAt = Date.now()): PagePost =>
      add({
        id: state.newId(`${page.id}_`),
        pageId: page.id,
        message,
        link: null,
        photoIds: [],
        videoId: null,
        publishedAt: createdAt,
        createdAt,
        isByPerson: true,
      }),

    /** Changes the text of a post, as people with a role on the page can. */
    rewrite: (id: string, message: string): void => rewrite(state.posts.get(id)!, message),
  }
}

function notAllowed(message: string): GraphRefusal {
  return new GraphRefusal({ code: 200, status: 403, message: `(#200) ${message}` })
}

export type PagePosts = ReturnType<typeof createPagePosts>

function keyed<T extends { id: string }>(record: T): [string, T] {
  return [record.id, record]
}

function mediaId(attached: string): string {
  try {
    return String((JSON.parse(attached) as { media_fbid?: unknown }).media_fbid)
  } catch {
    throw badParameter('Param attached_media must be a list of objects with media_fbid')
  }
}

function assertMessage(message: string): void {
  if (message.length > MAX_CHARACTERS)
    throw badParameter(`Param message must be at most ${MAX_CHARACTERS} characters long.`)
}

function assertLink(link: string | null): void {
  if (link === null) return
  if (!/^https?:\/\/./.test(link) || !URL.canParse(link)) {
    throw new GraphRefusal({ code: 100, subcode: 1_500, message: '(#100) The url you supplied is invalid' })
  }
  const { hostname } = new URL(link)
  if (/(^|\.)facebook\.com$/.test(hostname)) {
    throw new GraphRefusal({
      code: 100,
      subcode: 1_609_008,
      message: '(#100) Posting a facebook.com link is not allowed',
    })
  }
  if (/\.invalid$/.test(hostname)) {
    throw new GraphRefusal({
      code: 100,
      subcode: 1_609_005,
      message: '(#100) There was a problem scraping data from the provided link.',
    })
  }
}
