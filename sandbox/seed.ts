import type { MediaItem } from '../src/domain/posts/post.ts'
import { newUser } from '../src/domain/users/user.ts'
import { createPasswordHasher } from '../src/security/password-hasher.ts'
import { openDatabase } from '../src/store/shared/database.ts'
import { claimSchemaVersion, SchemaVersionError } from '../src/store/shared/schema-version.ts'
import { newId } from '../src/store/shared/schema.ts'
import { createUserStore } from '../src/store/users/users.ts'
import type { ApiClient } from './api-client.ts'
import { follow } from './platforms/shared/follow.ts'
import type { UserApi } from './platforms/sandbox-platform.ts'
import { PLAN_LIMITS } from './service.ts'
import type { FirstPost, SandboxUser } from './settings.ts'
import type { World } from './world.ts'

const DELIVERED_WITHIN_MS = 60_000
const FIRST_TEXT = 'Hello from postonce! Written once, published exactly once. #postonce'
const FURTHER_TEXT = 'Hello from the tea club! The same post, in other words for this account. #postonce'

/**
 * Records the schema version in a new database, before anything else is stored there.
 * @throws an error for the person who started the sandbox when another version of the service wrote the data
 */
export async function claimDatabase(mongoUrl: string): Promise<void> {
  const database = await openDatabase(mongoUrl)
  try {
    await claimSchemaVersion(database.connection)
  } catch (error) {
    if (!(error instanceof SchemaVersionError)) throw error
    throw new Error(
      'Another version of postonce wrote the data of this sandbox. Start with "npm run dev -- --fresh", which deletes it, or choose another --dir.',
      { cause: error },
    )
  } finally {
    await database.close()
  }
}

/**
 * Writes to the database, because the sandbox has no registration yet and only the database can create admins. Existing
 * users stay unchanged.
 */
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
            passwordHash: await passwords.hash(password, ''),
            limits: PLAN_LIMITS.free,
          },
          new Date(),
        ),
      )
    }
  } finally {
    await database.close()
  }
}

/** Creates an API client for the sandbox's user. */
export function userApi(api: ApiClient, token: string): UserApi {
  return {
    call: (method, path, body) => api.call(method, path, { token, ...(body && { body }) }),
    follow: (address) => follow(address),
  }
}

/**
 * Publishes a post with a picture, since some platforms require one, and verifies that it is public.
 * @param further ids of further accounts, which get another text
 */
export async function publishFirstPost(
  api: ApiClient,
  token: string,
  picture: MediaItem,
  platforms: World['platforms'],
  further: string[],
): Promise<FirstPost> {
  const { storageUrl: _, ...given } = picture
  const { postId } = await api.call<{ postId: string }>('POST', '/api/posts', {
    token,
    body: {
      content: { text: FIRST_TEXT, mediaItems: [given] },
      selectedPlatforms: Object.keys(platforms),
      selectedAccounts: further,
      accountSpecificContent: Object.fromEntries(further.map((id) => [id, { text: FURTHER_TEXT }])),
      correlationId: 'sandbox-first-post',
    },
  })
  const outcome = await api.outcomeOf(postId, token, DELIVERED_WITHIN_MS)
  const addresses: FirstPost['addresses'] = {}
  for (const { platform, accountId, status, error, platformPostUrl } of outcome.platformStatuses) {
    if (status !== 'completed' || !platformPostUrl) {
      throw new Error(`on ${platform} it is ${status}: ${error ?? 'no reason given'}`)
    }
    const shown = await fetch(platformPostUrl)
    if (!shown.ok) throw new Error(`the post is not public at ${platformPostUrl} (status ${shown.status})`)
    addresses[accountId ?? platform] = platformPostUrl
  }
  return { postId, addresses }
}

export async function uploadPicture(api: ApiClient, token: string): Promise<MediaItem> {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="1080" height="1080"><rect width="1080" height="1080" fill="#2b6cb0"/><text x="540" y="600" font-size="240" text-anchor="middle" fill="#fff" font-family="sans-serif">hello</text></svg>`
  const { default: sharp } = await import('sharp')
  const bytes = await sharp(Buffer.from(svg)).jpeg().toBuffer()
  const contentType = 'image/jpeg'
  const { uploadUrl, storageKey, storageUrl } = await api.call<
    Record<'uploadUrl' | 'storageKey' | 'storageUrl', string>
  >('POST', '/api/posts/media/upload', { token, body: { contentType, sizeBytes: bytes.length } })
  const answer = await fetch(uploadUrl, {
    method: 'PUT',
    headers: { 'content-type': contentType },
    body: new Uint8Array(bytes),
  })
  if (!answer.ok) throw new Error(`object storage refused the sample picture with status ${answer.status}`)
  const altText = 'The word hello on a blue background'
  return { storageKey, storageUrl, mimeType: contentType, sizeBytes: bytes.length, altText }
}
