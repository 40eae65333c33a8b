import { newUser } from '../src/domain/user.ts'
import { createPasswordHasher } from '../src/integrations/password-hasher.ts'
import { openDatabase } from '../src/store/database.ts'
import { newId } from '../src/store/schema-options.ts'
import { createUserStore } from '../src/store/users.ts'
import type { ApiClient } from './api-client.ts'
import { consent } from './platforms/mastodon/consent.ts'
import type { SandboxUser } from './settings.ts'

const MAX_POSTS = 1_000
const DELIVERED_WITHIN_MS = 60_000
const FIRST_TEXT = 'Hello from postonce! Written once, published exactly once. #postonce'

/** Past the API, since there is no registration yet and admins are made only by data; who exists stays as they are. */
export async function seedUsers(mongoUrl: string, wanted: SandboxUser[]): Promise<void> {
  const database = await openDatabase(mongoUrl)
  try {
    const users = createUserStore(database.connection)
    const passwords = createPasswordHasher()
    for (const { email, password, role } of wanted) {
      if ((await users.findByEmail(email)) !== null) continue
      await users.insert(
        newUser(
          {
            _id: newId(),
            email,
            name: role === 'admin' ? 'Sandbox admin' : 'Sandbox user',
            role,
            passwordHash: await passwords.hash(password),
            limits: { maxPosts: MAX_POSTS, maxCaptionGenerations: MAX_POSTS },
          },
          new Date(),
        ),
      )
    }
  } finally {
    await database.close()
  }
}

export async function connectBluesky(
  api: ApiClient,
  token: string,
  account: { identifier: string; appPassword: string },
): Promise<void> {
  await api.call('POST', '/api/platform/bluesky/connect', { token, body: account })
}

/** As a user does: over the page of the instance and back. */
export async function connectMastodon(api: ApiClient, token: string, accountId: string): Promise<void> {
  const { authUrl } = await api.call<{ authUrl: string }>('GET', '/api/platform/mastodon/connect', { token })
  const back = await fetch(await consent(authUrl, accountId), { redirect: 'manual' })
  const end = back.headers.get('location') ?? `status ${back.status}`
  if (!end.includes('success=mastodon_connected')) throw new Error(`Connecting Mastodon ended at ${end}`)
}

export interface FirstPost {
  postId: string
  /** The record's address within Bluesky, `at://...`. */
  uri: string
}

/** The way any post takes, and then the proof: the record as the Bluesky server shows it to the public. */
export async function publishFirstPost(api: ApiClient, token: string, blueskyUrl: string): Promise<FirstPost> {
  const { postId } = await api.call<{ postId: string }>('POST', '/api/posts', {
    token,
    body: { content: { text: FIRST_TEXT }, selectedPlatforms: ['bluesky'], correlationId: 'sandbox-first-post' },
  })
  const outcome = await api.outcomeOf(postId, token, DELIVERED_WITHIN_MS)
  const [delivery] = outcome.platformStatuses
  if (outcome.status !== 'COMPLETED' || !delivery?.platformPostId) {
    throw new Error(`it ended ${outcome.status}: ${delivery?.error ?? 'without a reason'}`)
  }
  const url = publicRecordUrl(blueskyUrl, delivery.platformPostId)
  const record = await fetch(url)
  if (!record.ok) throw new Error(`${url} answered ${record.status}`)
  return { postId, uri: delivery.platformPostId }
}

/** Where anyone may read the record `at://<account>/<collection>/<key>`, without a login. */
export function publicRecordUrl(blueskyUrl: string, uri: string): string {
  const [repo = '', collection = '', rkey = ''] = uri.replace('at://', '').split('/')
  return `${blueskyUrl}/xrpc/com.atproto.repo.getRecord?${new URLSearchParams({ repo, collection, rkey })}`
}
