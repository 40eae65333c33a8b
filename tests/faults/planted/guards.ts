import type { Platform } from '../../../src/domain/shared/platforms.ts'
import type { Violation } from '../judge/evidence.ts'
import type { Replacement } from '../source.ts'
import type { ScenarioName } from './scenarios.ts'

/** One guard of the service, how it is taken away, and what must then be reported. */
export interface Guard {
  guard: string
  removed: Replacement[]
  scenario: ScenarioName
  breaks: Violation['invariant']
  /** Where the posts of the scenario go; Bluesky where it does not matter. */
  platform?: Platform
  /** Other guards that hold the same line, taken away from the clean run as well. */
  without?: Replacement[]
}

/** Bluesky takes a repeat for what it is, by the record key: as if it were a platform that does not. */
const EVERY_CALL_IS_NEW: Replacement = {
  file: 'platforms/bluesky/posts.ts',
  find: '      rkey: toRecordKey(delivery),\n',
  put: '      rkey: deriveRecordKey(crypto.randomUUID(), delivery.startedAt),\n',
}
const EVERY_REPEAT_IS_NEW: Replacement = {
  file: 'platforms/bluesky/posts.ts',
  find: '      rkey: toRecordKey(delivery),\n',
  put: `      rkey: calledOnce.has(delivery.key)
        ? deriveRecordKey(crypto.randomUUID(), delivery.startedAt)
        : (calledOnce.add(delivery.key), toRecordKey(delivery)),\n`,
}
const CALLED_ONCE: Replacement = {
  file: 'platforms/bluesky/posts.ts',
  find: 'const IMAGES_IN_MEMORY = 2\n',
  put: 'const IMAGES_IN_MEMORY = 2\nconst calledOnce = new Set<string>()\n',
}

export const GUARDS: Guard[] = [
  {
    guard: 'The revision is a condition of every write',
    removed: [
      {
        file: 'store/posts/post-transitions.ts',
        find: '{ _id: stored._id, revision: stored.revision },',
        put: '{ _id: stored._id },',
      },
    ],
    scenario: 'two workers deliver the same posts at once',
    breaks: 'I1',
  },
  {
    guard: 'A write that found nothing to change counts as lost',
    removed: [
      {
        file: 'store/posts/post-transitions.ts',
        find: '    return matchedCount === 1\n',
        put: '    return matchedCount <= 1\n',
      },
    ],
    scenario: 'a post is deleted while it is armed',
    breaks: 'I3',
  },
  {
    guard: 'A repeat has the key of the first call',
    removed: [
      { file: 'domain/posts/delivery-moves.ts', find: 'key: delivery.key ?? wanted.key,', put: 'key: wanted.key,' },
    ],
    scenario: 'a call reaches the platform after its repeat',
    breaks: 'I1',
  },
  {
    guard: 'No claim while the lease of another one runs (on a platform that does not know repeats)',
    without: [EVERY_CALL_IS_NEW],
    removed: [
      {
        file: 'domain/posts/delivery-moves.ts',
        find: "    if (delivery.leaseUntil !== null && delivery.leaseUntil > now) throw new ClaimRefused('leased')\n",
        put: '',
      },
    ],
    scenario: 'two workers deliver the same posts at once',
    breaks: 'I1',
  },
  {
    guard: 'A doubt is looked into before the call is repeated (on a platform that does not know repeats)',
    without: [EVERY_REPEAT_IS_NEW, CALLED_ONCE],
    removed: [
      {
        file: 'activities/publishing/reconcile-delivery.ts',
        find: '    const found = await findEarlierCall(attempt, adapter, calledAt)\n',
        put: "    const found = 'absent' as Awaited<ReturnType<typeof findEarlierCall>>\n",
      },
    ],
    scenario: 'the answer to an accepted call is lost',
    breaks: 'I1',
  },
  {
    guard: 'Nothing found is believed only when the call can no longer take effect (on a server that ignores the key)',
    platform: 'mastodon',
    removed: [
      {
        file: 'platforms/shared/in-flight.ts',
        find: '  return elapsedMs >= (',
        put: '  return elapsedMs >= 0 * (',
      },
    ],
    scenario: 'a call reaches the platform after its repeat',
    breaks: 'I1',
  },
  {
    guard: "An answer without the platform's own error body decides nothing",
    platform: 'mastodon',
    removed: [
      {
        file: 'platforms/shared/calls.ts',
        find: '      if (!isOwn && isPlatformOnlyStatus(answer.status)) throw toForeignResponseError(label, answer)\n',
        put: '',
      },
    ],
    scenario: 'another server answers an accepted call',
    breaks: 'I1',
  },
  {
    guard: 'The sweeper takes up what Temporal never heard of',
    removed: [
      {
        file: 'activities/publishing/sweep.ts',
        find: 'first < stranded.length; first',
        put: 'first < 0 * stranded.length; first',
      },
    ],
    scenario: 'Temporal never hears of a post',
    breaks: 'I2',
  },
  {
    guard: 'No claim before the instant that is stored',
    removed: [
      {
        file: 'domain/posts/delivery-moves.ts',
        find: "    if (post.dueAt === null || post.dueAt > now) throw new ClaimRefused('not-due')\n    if (delivery.leaseUntil",
        put: '    if (delivery.leaseUntil',
      },
    ],
    scenario: 'a post is moved to a later instant while it is armed',
    breaks: 'I3',
  },
  {
    guard: 'No claim for what is cancelled',
    removed: [
      {
        file: 'domain/posts/post-entries.ts',
        find: "  if (post.status !== 'PENDING' && post.status !== 'SCHEDULED' && post.status !== 'PROCESSING') return null\n",
        put: '',
      },
    ],
    scenario: 'a post is cancelled while it is armed',
    breaks: 'I3',
  },
  {
    guard: 'No claim for words that were prepared before an edit',
    removed: [
      {
        file: 'domain/posts/delivery-moves.ts',
        find: "    if (post.contentVersion !== wanted.contentVersion) throw new ClaimRefused('stale')\n    return changed",
        put: '    return changed',
      },
    ],
    scenario: 'a post is edited while it is armed',
    breaks: 'I3',
  },
  {
    guard: 'The allowance is a condition of the transaction',
    removed: [
      {
        file: 'store/users/users.ts',
        find: 'return { _id: userId, $expr: { $lte: [{ $add: [`$usage.${usage}`, count] }, `$limits.${limit}`] } }',
        put: 'return { _id: userId, $expr: { $lte: [count, 50] } }',
      },
    ],
    scenario: 'ten creates at one below the allowance',
    breaks: 'I4',
  },
  {
    guard: 'An idempotency key is unique',
    removed: [
      {
        file: 'store/posts/post-schema.ts',
        find: "{ unique: true, partialFilterExpression: { correlationId: { $type: 'string' } } }",
        put: "{ partialFilterExpression: { correlationId: { $type: 'string' } } }",
      },
    ],
    scenario: 'ten creates with one idempotency key',
    breaks: 'I4',
  },
  {
    guard: 'A key that was taken meanwhile is answered like the first request',
    removed: [
      {
        file: 'commands/posts/create-post.ts',
        find: 'if (!isDuplicateKey(error) || !request.idempotency) throw error',
        put: 'throw error',
      },
    ],
    scenario: 'ten creates with one idempotency key',
    breaks: 'I8',
  },
  {
    guard: 'The status of a post is rolled up in one place',
    removed: [
      {
        file: 'domain/posts/post-entries.ts',
        find: "return failed === statuses.length ? 'FAILED' : 'PARTIAL_SUCCESS'",
        put: "return failed === statuses.length ? 'COMPLETED' : 'PARTIAL_SUCCESS'",
      },
    ],
    scenario: 'the platform refuses a post',
    breaks: 'I5',
  },
  {
    guard: 'The key of a notification is unique',
    removed: [
      {
        file: 'store/notifications/notifications.ts',
        find: 'notificationSchema.index({ dedupeKey: 1 }, { unique: true })',
        put: 'notificationSchema.index({ dedupeKey: 1 })',
      },
    ],
    scenario: 'a delivery that ended is told to end again',
    breaks: 'I6',
  },
  {
    guard: 'Tokens are sealed before they are stored',
    removed: [
      {
        file: 'security/token-cipher.ts',
        find: '    seal(',
        put: '    seal: (plain: string) => plain,\n    sealed(',
      },
      {
        file: 'security/token-cipher.ts',
        find: '    open(',
        put: '    open: (plain: string) => plain,\n    opened(',
      },
    ],
    scenario: 'a delivery that ended is told to end again',
    breaks: 'I7',
  },
  {
    guard: 'One of all renews an ended token, the others wait for it',
    removed: [
      {
        file: 'commands/accounts/account-credentials.ts',
        find: 'if (!(await accounts.takeLease({ userId, platform, version }, holder, until))) {',
        put: 'if (!(await accounts.takeLease({ userId, platform, version }, holder, until)) && false) {',
      },
    ],
    scenario: 'posts are due on an access token that has ended',
    breaks: 'renewal',
  },
  {
    guard: 'A connect attempt is used up by one callback',
    platform: 'mastodon',
    removed: [
      {
        file: 'store/shared/redirect-attempts.ts',
        find: 'consumedAt: null, expiresAt: { $gt: at } },\n        { $set: { consumedAt: at, secrets: null } },',
        put: 'expiresAt: { $gt: at } },\n        { $set: { consumedAt: at } },',
      },
    ],
    scenario: 'a good callback comes five times at once',
    breaks: 'connect',
  },
  {
    guard: 'The MAC of a state is checked',
    platform: 'mastodon',
    removed: [
      {
        file: 'security/connect-states.ts',
        find: 'return isOurs && !isOver ?',
        put: 'return !isOver ?',
      },
    ],
    scenario: 'a callback comes with another MAC',
    breaks: 'connect',
  },
  {
    guard: 'A callback is bound to the browser that began it',
    platform: 'mastodon',
    removed: [
      {
        file: 'store/shared/redirect-attempts.ts',
        find: '{ ...(attempt as object), bindingHash: { $in: bindingHashes }, consumedAt',
        put: '{ ...(attempt as object), consumedAt',
      },
    ],
    scenario: 'a callback comes from another browser',
    breaks: 'connect',
  },
  {
    guard: 'A post is looked for by the draft it was made of',
    platform: 'tumblr',
    removed: [
      {
        file: 'platforms/tumblr/posts.ts',
        find: 'genesis_post_id }) => genesis_post_id === draft',
        put: 'genesis_post_id }) => genesis_post_id === draft && false',
      },
    ],
    scenario: 'the answer to an accepted call is lost',
    breaks: 'I2',
  },
  {
    guard: 'A container that came out is not published again',
    platform: 'threads',
    removed: [
      {
        file: 'platforms/shared/graph/container-posts.ts',
        find: "    if (state !== 'published') return isNoLongerInFlight(options, true, { inFlightMs }) ? 'absent' : 'in-flight'\n",
        put: "    if (state === 'published') return 'absent'\n",
      },
      {
        file: 'platforms/shared/graph/container-posts.ts',
        find: '    if (container.isPublished) {\n',
        put: '    if (container.isPublished && false) {\n',
      },
    ],
    scenario: 'the answer to an accepted call is lost',
    breaks: 'I1',
  },
  {
    guard: "A post is looked for among the page's own",
    platform: 'facebook',
    removed: [
      {
        file: 'platforms/facebook/search.ts',
        find: '    if (match) return match\n',
        put: "    if (match) return 'absent'\n",
      },
    ],
    scenario: 'the answer to an accepted call is lost',
    breaks: 'I1',
  },
]
