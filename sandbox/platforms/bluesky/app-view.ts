import { createServer, type Server } from 'node:http'
import type { AppViewCounts, AppViewKnobs } from './app-view-counts.ts'
import { APP_PATHS, postPage } from './pages.ts'
import type { PdsClient, StoredRecord } from './pds-client.ts'

/** The DID of the AppView at the Bluesky server. It is not resolvable; the server also receives the URL. */
export const APP_VIEW_DID = 'did:web:appview.test'

const POST_COLLECTION = 'app.bsky.feed.post'
const MAX_POSTS_PER_CALL = 25

/**
 * A small AppView: it answers what the Bluesky server does not, from that server's records. The real one follows the
 * network's stream and lags; this one reads at every call and lags as configured. It also has the app's pages of posts.
 */
export function createAppView(pds: () => PdsClient, counts: AppViewCounts, knobs: AppViewKnobs): Server {
  const postView = createPostViews(pds, counts, knobs)

  const methods: Record<string, (query: URLSearchParams) => Promise<unknown>> = {
    'app.bsky.actor.getProfile': (query) => profile(pds(), counts, query.get('actor') ?? ''),
    'app.bsky.actor.getProfiles': async (query) => ({
      profiles: await keepFound(query.getAll('actors').map((actor) => profile(pds(), counts, actor))),
    }),
    'app.bsky.feed.getPosts': async (query) => {
      const uris = query.getAll('uris')
      if (uris.length > MAX_POSTS_PER_CALL) {
        throw new XrpcFailure(
          400,
          'InvalidRequest',
          `Error: uris must not have more than ${MAX_POSTS_PER_CALL} elements`,
        )
      }
      return { posts: await keepFound(uris.map(postView)) }
    },
  }
  return createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://app-view')
    if (url.pathname.startsWith(APP_PATHS)) {
      postPage(pds(), url.pathname).then(
        ({ status, headers, body }) => response.writeHead(status, headers).end(body),
        () => response.destroy(),
      )
      return
    }
    const method = methods[url.pathname.replace('/xrpc/', '')]
    const work = method
      ? method(url.searchParams)
      : Promise.reject(new XrpcFailure(501, 'MethodNotImplemented', 'Method Not Implemented'))
    work.then(
      (body) => send(200, body),
      (error: unknown) => {
        const { status, name, message } =
          error instanceof XrpcFailure ? error : new XrpcFailure(500, 'InternalServerError', String(error))
        send(status, { error: name, message })
      },
    )
    const send = (status: number, body: unknown) => {
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(JSON.stringify(body))
    }
  })
}

class XrpcFailure extends Error {
  readonly status: number
  constructor(status: number, name: string, message: string) {
    super(message)
    this.status = status
    this.name = name
  }
}

/** Like the real one, lists leave out what does not exist. */
async function keepFound<T>(work: Promise<T>[]): Promise<T[]> {
  const settled = await Promise.allSettled(work)
  const broken = settled.find((one) => one.status === 'rejected' && !(one.reason instanceof XrpcFailure))
  if (broken?.status === 'rejected') throw broken.reason
  return settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
}

async function profile(pds: PdsClient, counts: AppViewCounts, actor: string) {
  const account = await pds.findAccount(actor)
  if (!account) throw new XrpcFailure(400, 'InvalidRequest', 'Profile not found')
  const record = await pds.findRecord(account.did, 'app.bsky.actor.profile', 'self')
  const posts = await pds.listRecords(account.did, POST_COLLECTION)
  const picture = blobCid(record?.value['avatar'])
  return {
    did: account.did,
    handle: account.handle,
    ...pick(record, ['displayName', 'description']),
    ...(picture ? { avatar: pds.blobUrl(account.did, picture) } : {}),
    postsCount: posts.length,
    ...counts.accountCounts(account.did),
  }
}

function createPostViews(pds: () => PdsClient, counts: AppViewCounts, knobs: AppViewKnobs) {
  /** The last view, shown until the lag of a deletion has passed. */
  const shown = new Map<string, { view: object; missedAt?: number }>()

  return async function postView(uri: string): Promise<object> {
    const [, did = '', collection = '', rkey = ''] = /^at:\/\/([^/]+)\/([^/]+)\/([^/]+)$/.exec(uri) ?? []
    const record = collection === POST_COLLECTION ? await pds().findRecord(did, collection, rkey) : undefined
    const author = record && (await pds().findAccount(did))
    const now = Date.now()
    if (!record || !author) return lastView(uri, now)
    const { text, createdAt } = record.value
    const isNews = knobs.lagMs > 0 && now - Date.parse(String(createdAt)) < knobs.lagMs
    if (isNews || knobs.hidden.has(uri)) throw new XrpcFailure(400, 'InvalidRequest', 'Post not found')
    const view = {
      uri: record.uri,
      cid: record.cid,
      author: { did: author.did, handle: author.handle },
      record: record.value,
      indexedAt: createdAt,
      ...counts.postCounts(uri, { text: String(text), publishedAt: Date.parse(String(createdAt)) }),
    }
    shown.set(uri, { view })
    return view
  }

  function lastView(uri: string, now: number): object {
    const last = shown.get(uri)
    if (last) last.missedAt ??= now
    if (last && now - last.missedAt! < knobs.lagMs) return last.view
    throw new XrpcFailure(400, 'InvalidRequest', 'Post not found')
  }
}

function pick(record: StoredRecord | undefined, names: string[]): Record<string, unknown> {
  return Object.fromEntries(names.flatMap((name) => (record?.value[name] ? [[name, record.value[name]]] : [])))
}

function blobCid(blob: unknown): string | undefined {
  return (blob as { ref?: { $link?: string } } | undefined)?.ref?.$link
}
