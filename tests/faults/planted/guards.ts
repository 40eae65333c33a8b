import type { Platform } from '../../../src/domain/shared/platforms.ts'
import type { Violation } from '../judge/evidence.ts'
import type { Replacement } from '../../support/copied-source.ts'
import type { ScenarioName } from './scenarios.ts'

/** A guard of the service, the replacements that remove it, and the violation that the judge must then report. */
export interface Guard {
  guard: string
  removed: Replacement[]
  scenario: ScenarioName
  violates: Violation['invariant']
  /** The platform of the scenario's posts; Bluesky by default. */
  platform?: Platform
  /** Removes other guards against the same violation, in the clean run as well. */
  alsoRemoved?: Replacement[]
}

/** Removes the marked statement. */
const remove = (): string => ''

/** Adds a condition that never holds to the marked `if`. */
const never = (code: string): string => code.replace(/^if \((.*)\)(?= (?:\{|return|throw))/, 'if ($1 && false)')

/** Bluesky recognises repeats by the record key. A new key per call makes it a platform that does not. */
const NEW_KEY_PER_CALL: Replacement = {
  anchor: 'record key',
  change: () => 'rkey: deriveRecordKey(crypto.randomUUID(), delivery.startedAt)',
}
const NEW_KEY_PER_REPEAT: Replacement = {
  anchor: 'record key',
  change: (code) => `rkey: (globalThis.called ??= new Set()).has(delivery.key)
    ? deriveRecordKey(crypto.randomUUID(), delivery.startedAt)
    : (globalThis.called.add(delivery.key), ${code.replace('rkey: ', '')})`,
}

export const GUARDS: Guard[] = [
  {
    guard: 'The revision is a condition of every write',
    removed: [{ anchor: 'revision', change: (code) => code.replace(/,\s*revision:[^,}]*/, ' ') }],
    scenario: 'two workers deliver the same posts concurrently',
    violates: 'I1',
  },
  {
    guard: 'A write that matches no document counts as lost',
    removed: [{ anchor: 'lost write', change: () => 'return true' }],
    scenario: 'a post is deleted while it is armed',
    violates: 'I3',
  },
  {
    guard: 'A repeat has the key of the first call',
    removed: [{ anchor: 'first key', change: () => 'key: wanted.key' }],
    scenario: 'a call reaches the platform after its repeat',
    violates: 'I1',
  },
  {
    guard: 'No claim while the lease of another attempt runs (on a platform that does not detect repeats)',
    alsoRemoved: [NEW_KEY_PER_CALL],
    removed: [{ anchor: 'lease', change: remove }],
    scenario: 'two workers deliver the same posts concurrently',
    violates: 'I1',
  },
  {
    guard: 'An unknown outcome is reconciled before the call is repeated (on a platform that does not detect repeats)',
    alsoRemoved: [NEW_KEY_PER_REPEAT],
    removed: [{ anchor: 'reconciliation', change: (code) => code.replace(/=.*$/s, "= 'absent'") }],
    scenario: 'the response to an accepted call is lost',
    violates: 'I1',
  },
  {
    guard:
      'A missing post counts as absent only when the call can no longer take effect (on a server that ignores the key)',
    platform: 'mastodon',
    removed: [{ anchor: 'settling time', change: () => 'return true' }],
    scenario: 'a call reaches the platform after its repeat',
    violates: 'I1',
  },
  {
    guard: "A response without the platform's own error body decides nothing",
    platform: 'mastodon',
    removed: [{ anchor: 'foreign response', change: remove }],
    scenario: 'another server responds to an accepted call',
    violates: 'I1',
  },
  {
    guard: 'The sweeper starts posts that Temporal never received',
    removed: [{ anchor: 'sweep', change: () => 'const restarted = 0' }],
    scenario: 'Temporal never receives a post',
    violates: 'I2',
  },
  {
    guard: 'No claim before the stored due time',
    removed: [{ anchor: 'due time', change: remove }],
    scenario: 'a post is rescheduled to a later time while it is armed',
    violates: 'I3',
  },
  {
    guard: 'No claim for a cancelled post',
    removed: [{ anchor: 'open post', change: remove }],
    scenario: 'a post is cancelled while it is armed',
    violates: 'I3',
  },
  {
    guard: 'No claim for content that was prepared before an edit',
    removed: [{ anchor: 'content version', change: remove }],
    scenario: 'a post is edited while it is armed',
    violates: 'I3',
  },
  {
    guard: 'The allowance is a condition of the transaction',
    removed: [{ anchor: 'allowance', change: () => 'return { _id: userId, $expr: { $lte: [count, 50] } }' }],
    scenario: 'ten creates arrive at one below the allowance',
    violates: 'I4',
  },
  {
    guard: 'An idempotency key is unique',
    removed: [{ anchor: 'unique idempotency key', change: (code) => code.replace('unique: true, ', '') }],
    scenario: 'ten creates arrive with one idempotency key',
    violates: 'I4',
  },
  {
    guard: 'A concurrently used key gets the response of the first request',
    removed: [{ anchor: 'taken idempotency key', change: () => 'throw error' }],
    scenario: 'ten creates arrive with one idempotency key',
    violates: 'I8',
  },
  {
    guard: 'The status of a post is rolled up in one place',
    removed: [{ anchor: 'roll-up', change: (code) => code.replace("'FAILED'", "'COMPLETED'") }],
    scenario: 'the platform refuses a post',
    violates: 'I5',
  },
  {
    guard: 'The key of a notification is unique',
    removed: [{ anchor: 'unique notification', change: (code) => code.replace(', { unique: true }', '') }],
    scenario: 'an ended delivery is ended again',
    violates: 'I6',
  },
  {
    guard: 'A change of a post stores its events in the same write',
    removed: [{ anchor: 'events in the write of their change', change: () => '...{}' }],
    scenario: 'an ended delivery is ended again',
    violates: 'I9',
  },
  {
    guard: 'The sweeper relays the events that a process left',
    removed: [{ anchor: 'relay of events that a crash left', change: () => 'const relayed = 0' }],
    scenario: 'processes end before they relay events',
    violates: 'I9',
  },
  {
    guard: 'Tokens are sealed before they are stored',
    removed: [
      { anchor: 'seal', change: () => 'seal: (plain: string) => plain' },
      { anchor: 'open', change: () => 'open: (plain: string) => plain' },
    ],
    scenario: 'an ended delivery is ended again',
    violates: 'I7',
  },
  {
    guard: 'One caller renews an expired token, the others wait for it',
    removed: [{ anchor: 'renewal lease', change: never }],
    scenario: 'posts are due with an expired access token',
    violates: 'renewal',
  },
  {
    guard: 'A connect attempt is used up by one callback',
    platform: 'mastodon',
    removed: [
      {
        anchor: 'redirect attempt',
        change: (code) => code.replace('consumedAt: null, ', '').replace(', secrets: null', ''),
      },
    ],
    scenario: 'a valid callback arrives five times concurrently',
    violates: 'connect',
  },
  {
    guard: 'The MAC of a state is checked',
    platform: 'mastodon',
    removed: [{ anchor: 'state MAC', change: (code) => code.replace(/isAuthentic\s*&&/, '') }],
    scenario: 'a callback comes with another MAC',
    violates: 'connect',
  },
  {
    guard: 'A callback is bound to the browser that started it',
    platform: 'mastodon',
    removed: [{ anchor: 'redirect attempt', change: (code) => code.replace(/bindingHash: \{[^}]*\}, /, '') }],
    scenario: 'a callback comes from another browser',
    violates: 'connect',
  },
  {
    guard: 'A post is found by the draft it was created from',
    platform: 'tumblr',
    removed: [{ anchor: 'search by draft', change: (code) => code.replace(/=== draft/, '=== draft && false') }],
    scenario: 'the response to an accepted call is lost',
    violates: 'I2',
  },
  {
    guard: 'A published container is not published again',
    platform: 'threads',
    removed: [
      { anchor: 'unpublished container', change: () => "if (state === 'published') return 'absent'" },
      { anchor: 'published container', change: never },
    ],
    scenario: 'the response to an accepted call is lost',
    violates: 'I1',
  },
  {
    guard: "A post is found among the page's own posts",
    platform: 'facebook',
    removed: [{ anchor: 'search in page', change: () => "if (match) return 'absent'" }],
    scenario: 'the response to an accepted call is lost',
    violates: 'I1',
  },
]
