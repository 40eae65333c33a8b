import sharp from 'sharp'
import type { SandboxResponse } from '../proxied-platform.ts'
import type { ContainerPost, ContainerStore } from '../shared/graph/container-store.ts'
import { selectFields } from '../shared/graph/fields.ts'
import { badParameter, callerOf, GraphRefusal, noSuchObject, type GraphNode } from '../shared/graph/graph.ts'
import { pageThrough } from '../shared/graph/lists.ts'
import { CONTAINER_RULES, hasPicture, readFilm } from '../shared/film.ts'
import { pullFile } from '../shared/graph/pulled-files.ts'
import { assertCaption } from './caption.ts'
import { readInstagramDetails } from './instagram-details.ts'
import type { MetaCall, MetaModule } from './graph.ts'
import { isShown } from './linked-accounts.ts'
import type { InstagramAccount, MetaState } from './state.ts'
import { requireScopes } from './tokens.ts'

interface RoutesDeps {
  state: MetaState
  store: ContainerStore
  postNode(post: ContainerPost): GraphNode
  quota: { posts: number; containers: number }
}

const DAY_MS = 86_400_000
const MAX_ALT_TEXT = 1_000
const CAROUSEL = { min: 2, max: 10 }
const IMAGE = { maxBytes: 8_388_608, minAspect: 0.8, maxAspect: 1.91 }
const VIDEO = { types: ['video/mp4', 'video/quicktime'], maxBytes: 300_000_000, minSeconds: 3, maxSeconds: 900 }

/** Story video specifications of IG User Media, read in September 2026. */
const STORY = { ...VIDEO, maxBytes: 100_000_000, maxSeconds: 60 }

const refuse = (code: number, subcode: number, message: string) => new GraphRefusal({ code, subcode, message })

/** Creates and publishes containers, with the real error codes. */
export function instagramRoutes({ state, store, postNode, quota }: RoutesDeps): MetaModule['routes'] {
  /** Accepts the token of a user or of a page. */
  function ownAccount(call: MetaCall, ...scopes: string[]): InstagramAccount {
    const caller = callerOf(call)
    const account = state.instagramAccounts.get(call.ids[0] ?? '')
    if (!account || !isShown(state, account.id, caller)) throw noSuchObject(call.ids[0]!, call.method)
    requireScopes(caller, 'instagram_basic', ...scopes)
    return account
  }

  async function create(call: MetaCall): Promise<SandboxResponse> {
    const account = ownAccount(call, 'instagram_content_publish')
    const { params } = call
    if (store.createdSince(account.id, Date.now() - DAY_MS) >= quota.containers) {
      throw refuse(9, 2_207_042, 'Application request limit reached')
    }
    const text = params.get('caption') ?? ''
    assertCaption(text)
    const isChild = params.get('is_carousel_item') === 'true'
    const type = params.get('media_type')
    const isStory = type === 'STORIES'
    const details = readInstagramDetails(params)
    const common = { accountId: account.id, text, isChild, children: [], file: null, problem: null, isStory, details }
    if (type === 'CAROUSEL')
      return makeContainer({ ...common, kind: 'CAROUSEL', children: childrenOf(call, account.id) })
    const address = params.get('video_url')
    if (type === undefined || type === 'IMAGE' || (isStory && address === undefined)) {
      const file = await pullImage(params.get('image_url'), isStory)
      return makeContainer({ ...common, kind: 'IMAGE', file: { ...file, altText: altTextOf(call) } })
    }
    if (!isStory && type !== (isChild ? 'VIDEO' : 'REELS')) {
      throw refuse(100, 2_207_023, `The media type ${type} is unknown`)
    }
    if (isStory && params.get('image_url') !== undefined) throw badParameter('A story takes one image or one video')
    const { file, problem } = await pullVideo(address, isStory ? STORY : VIDEO, Number(params.get('thumb_offset') ?? 0))
    return makeContainer({ ...common, kind: 'VIDEO', file: { ...file, altText: '' }, problem })
  }

  function makeContainer(fields: Parameters<ContainerStore['make']>[0]): SandboxResponse {
    return { status: 200, body: { id: store.make(fields).id } }
  }

  function childrenOf({ params }: MetaCall, accountId: string): string[] {
    const ids = params.list('children')
    if (ids.length < CAROUSEL.min || ids.length > CAROUSEL.max) {
      throw refuse(100, 2_207_028, 'Carousels need 2 to 10 children')
    }
    for (const id of ids) {
      const child = store.find(id)
      if (child?.accountId !== accountId || !child.isChild || new Set(ids).size < ids.length) {
        throw badParameter(`Param children is invalid: ${id}`)
      }
      if (store.statusOf(child) !== 'FINISHED') throw refuse(9_007, 2_207_027, 'Media ID is not available')
    }
    return ids
  }

  function publish(call: MetaCall): SandboxResponse {
    const account = ownAccount(call, 'instagram_content_publish')
    const container = store.find(call.params.get('creation_id') ?? '')
    if (container?.accountId !== account.id || container.isChild) throw refuse(24, 2_207_006, 'Media not found')
    const status = store.statusOf(container)
    if (status === 'EXPIRED') throw refuse(24, 2_207_008, 'The requested resource does not exist')
    if (status === 'IN_PROGRESS' || status === 'ERROR') throw refuse(9_007, 2_207_027, 'Media ID is not available')
    if (store.usedQuota(account.id) >= quota.posts) throw refuse(9, 2_207_042, 'Application request limit reached')
    return { status: 200, body: { id: store.publish(container).id } }
  }

  function limit(call: MetaCall): SandboxResponse {
    const account = ownAccount(call, 'instagram_content_publish')
    const config = { quota_total: quota.posts, quota_duration: 86_400 }
    return { status: 200, body: { data: [{ quota_usage: store.usedQuota(account.id), config }] } }
  }

  function list(call: MetaCall): SandboxResponse {
    const account = ownAccount(call)
    return pageThrough(store.postsOf(account.id), call.params, (post) =>
      selectFields(postNode(post), call.params.get('fields')),
    )
  }

  /** "instagram_basic, instagram_manage_insights" (IG User Stories, read in September 2026). */
  function listStories(call: MetaCall): SandboxResponse {
    const account = ownAccount(call, 'instagram_manage_insights')
    return pageThrough(store.storiesOf(account.id), call.params, (post) =>
      selectFields(postNode(post), call.params.get('fields')),
    )
  }

  return [
    ['GET', /^\/(\d+)\/stories$/, listStories],
    ['POST', /^\/(\d+)\/media$/, create],
    ['GET', /^\/(\d+)\/media$/, list],
    ['POST', /^\/(\d+)\/media_publish$/, publish],
    ['GET', /^\/(\d+)\/content_publishing_limit$/, limit],
  ]
}

function altTextOf({ params }: MetaCall): string {
  const altText = params.get('alt_text') ?? ''
  if ([...altText].length > MAX_ALT_TEXT) throw badParameter(`alt_text takes at most ${MAX_ALT_TEXT} characters`)
  return altText
}

async function pull(name: string, url: string | undefined) {
  if (url === undefined) throw badParameter(`The parameter ${name} is required`)
  const file = await pullFile(url)
  if (!file) throw refuse(9_004, 2_207_052, 'Only photo or video can be accepted as media type.')
  return { url, ...file }
}

/** The documentation limits no shape of images in stories. */
async function pullImage(address: string | undefined, hasAnyShape: boolean) {
  const { url, mimeType, sizeBytes, bytes } = await pull('image_url', address)
  if (mimeType !== 'image/jpeg') throw refuse(36_001, 2_207_005, 'The image format is not supported')
  if (sizeBytes > IMAGE.maxBytes) throw refuse(36_000, 2_207_004, 'The image size is too large')
  const { width, height } = await sharp(bytes).metadata()
  const aspect = width / height
  if (!hasAnyShape && (aspect < IMAGE.minAspect || aspect > IMAGE.maxAspect)) {
    throw refuse(36_003, 2_207_009, 'The aspect ratio is not supported')
  }
  return { url, mimeType }
}

/** An unusable video fails during processing (IG User Media, specifications of reels, read in September 2026). */
async function pullVideo(address: string | undefined, limits: typeof VIDEO, thumbOffsetMs: number) {
  const { url, mimeType, sizeBytes, bytes } = await pull('video_url', address)
  const film = readFilm(bytes, sizeBytes)
  if (film !== null && thumbOffsetMs > film.duration * 1_000) {
    throw refuse(1, 2_207_057, 'The thumbnail offset is not within the video')
  }
  const hasLength = film !== null && film.duration >= limits.minSeconds && film.duration <= limits.maxSeconds
  const isAccepted = limits.types.includes(mimeType) && sizeBytes <= limits.maxBytes
  const isGood =
    isAccepted && hasPicture(film) && hasLength && Object.values(CONTAINER_RULES).every((rule) => rule(film))
  return { file: { url, mimeType }, problem: isGood ? null : '2207026' }
}
