import { expect, it } from 'vitest'
import type { FaultAction } from '../../../sandbox/platforms/faults.ts'
import type { Platform } from '../../../src/domain/shared/platforms.ts'
import type { PostStatusData } from '../../support/delivery-world.ts'
import type { Control, LedgerEntry } from '../../support/platform-control.ts'

interface Author {
  /** Creates a post for this platform only. */
  publish(text: string): Promise<string>
  until(postId: string): Promise<PostStatusData>
  /** The author's public posts on the platform. */
  publicPosts(): Promise<LedgerEntry[]>
  call(method: 'GET', path: string): Promise<{ body: { data: Record<string, { health: object }> } }>
}

/** A platform with its visible call. `connectUser` creates a user with an account on it. */
interface Subject {
  control(): Control
  call: { method: string; path: string }
  connectUser(): Promise<Author>
}

/** Tests that a post is published once, whatever happens to the response to its visible call. */
export function publishedOnce({ control, call, connectUser }: Subject): void {
  it.each<[string, FaultAction]>([
    ['is lost', { dropAfterAccept: true }],
    ['is cut off', { truncate: true }],
    ['is an error', { statusAfterAccept: 500 }],
    ['is a page', { statusAfterAccept: 200, body: '<html>' }],
  ])('a post whose answer %s is published once', async (_, action) => {
    const user = await connectUser()
    await control().fault({ ...call, times: 1, action })
    const { status, platformStatuses } = await user.until(await user.publish('Only once'))
    expect(status).toBe('COMPLETED')
    const records = await user.publicPosts()
    expect(records).toHaveLength(1)
    expect(platformStatuses[0]).toMatchObject({ platformPostId: records[0]!.id, attemptCount: 1 })
  })
}

/** Tests that equal posts are not confused, on platforms that accept them. */
export function equalPostsPublished({ control, call, connectUser }: Subject): void {
  it('two equal posts with lost answers each find their own platform post', async () => {
    const user = await connectUser()
    await control().fault({ ...call, times: 2, action: { dropAfterAccept: true } })
    const posts = await Promise.all([user.publish('Twins'), user.publish('Twins')])
    const ends = await Promise.all(posts.map((postId) => user.until(postId)))
    expect(ends.map(({ status }) => status)).toEqual(['COMPLETED', 'COMPLETED'])
    const ids = ends.map(({ platformStatuses }) => platformStatuses[0]!.platformPostId!)
    expect(ids.toSorted()).toEqual((await user.publicPosts()).map(({ id }) => id).toSorted())
  })
}

/** Tests that a post on an account whose login has ended fails with a reason, and the user learns of it. */
export function expiredLoginReported(
  platform: Platform,
  { control, connectUser }: { control(): Control; connectUser(): Promise<Author & { accountId: string }> },
): void {
  it('an expired login fails the post with a reason', async () => {
    const user = await connectUser()
    await control().revoke(user.accountId)
    const { platformStatuses } = await user.until(await user.publish('Too late'))
    expect(platformStatuses[0]).toMatchObject({ status: 'failed', errorCode: 'unauthorized' })
    const { body } = await user.call('GET', '/api/platform/find')
    expect(body.data[platform]!.health).toMatchObject({ status: 'expired', needsReconnection: true })
    expect(await user.publicPosts()).toEqual([])
  })
}
