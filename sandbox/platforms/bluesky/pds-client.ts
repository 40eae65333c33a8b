import type { Did } from './pds-thread.ts'

/** The sandbox's calls to the Bluesky server: public reads, and calls of an account or the operator. */
export interface StoredRecord {
  uri: string
  cid: string
  value: Record<string, unknown>
}

interface Account {
  did: Did
  handle: string
}

interface CallInput {
  query?: Record<string, string>
  body?: Record<string, unknown>
  authorization?: string
}

export class PdsCallError extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.name = 'PdsCallError'
    this.status = status
  }
}

const PAGE = '100'

export function createPdsClient(baseUrl: string) {
  async function call(
    method: 'GET' | 'POST',
    nsid: string,
    { query, body, authorization }: CallInput,
  ): Promise<unknown> {
    const response = await fetch(`${baseUrl}/xrpc/${nsid}?${new URLSearchParams(query)}`, {
      method,
      headers: {
        ...(authorization ? { authorization } : {}),
        ...(body ? { 'content-type': 'application/json' } : {}),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    const text = await response.text()
    if (!response.ok) throw new PdsCallError(response.status, `${nsid} answered ${response.status}: ${text}`)
    return text === '' ? {} : JSON.parse(text)
  }
  const get = (nsid: string, query: Record<string, string>) => call('GET', nsid, { query })

  async function orUndefined<T>(work: Promise<unknown>): Promise<T | undefined> {
    try {
      return (await work) as T
    } catch (error) {
      if (error instanceof PdsCallError && error.status < 500) return undefined
      throw error
    }
  }

  /** Reads every page of a list. */
  async function all<T>(nsid: string, key: string, query: Record<string, string>): Promise<T[]> {
    const found: T[] = []
    let cursor: string | undefined
    do {
      const page = (await get(nsid, {
        ...query,
        ...(cursor ? { cursor } : {}),
      })) as Record<string, unknown>
      found.push(...(page[key] as T[]))
      cursor = page['cursor'] as string | undefined
    } while (cursor)
    return found
  }

  return {
    baseUrl,
    call,
    blobUrl: (did: string, cid: string) =>
      `${baseUrl}/xrpc/com.atproto.sync.getBlob?${new URLSearchParams({ did, cid })}`,
    /** Finds an account by handle or DID. */
    findAccount: (actor: string) => orUndefined<Account>(get('com.atproto.repo.describeRepo', { repo: actor })),
    listDids: async () =>
      (
        await all<{ did: string }>('com.atproto.sync.listRepos', 'repos', {
          limit: '500',
        })
      ).map(({ did }) => did),
    findRecord: (repo: string, collection: string, rkey: string) =>
      orUndefined<StoredRecord>(get('com.atproto.repo.getRecord', { repo, collection, rkey })),
    /** Lists the records of a collection, oldest key first. */
    listRecords: (repo: string, collection: string) =>
      all<StoredRecord>('com.atproto.repo.listRecords', 'records', {
        repo,
        collection,
        limit: PAGE,
        reverse: 'true',
      }),
  }
}

export type PdsClient = ReturnType<typeof createPdsClient>
