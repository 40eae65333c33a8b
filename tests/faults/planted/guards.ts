import type { Platform } from '../../../src/domain/shared/platforms.ts'
import { SIMULATED_GUARDS, type SimulatedGuard } from '../../simulation/guards.ts'
import { never, type Replacement } from '../../support/copied-source.ts'
import type { ScenarioName } from './scenarios.ts'

/** A guard of the service, the replacements that remove it, and the violations that the judge must then report. */
export interface Guard extends Omit<SimulatedGuard, 'violates'> {
  violates: SimulatedGuard['violates'] | SimulatedGuard['violates'][]
  scenario: ScenarioName
  /** The platform of the scenario's posts; Bluesky by default. */
  platform?: Platform
  /** Removes other guards against the same violation, in the clean run as well. */
  alsoRemoved?: Replacement[]
}

/** Bluesky recognises repeats by the record key. A new key per repeat makes it a platform that does not. */
const NEW_KEY_PER_REPEAT: Replacement = {
  anchor: 'record key',
  change: (code) => `rkey: (globalThis.called ??= new Set()).has(delivery.key)
    ? deriveRecordKey(crypto.randomUUID(), delivery.dueAt)
    : (globalThis.called.add(delivery.key), ${code.replace('rkey: ', '')})`,
}

/** The simulation removes every guard of deliveries. These need a real database or platform as well. */
const ofSimulation = (anchor: string): SimulatedGuard =>
  SIMULATED_GUARDS.find(({ removed }) => removed.some((one) => one.anchor === anchor))!

export const GUARDS: Guard[] = [
  {
    ...ofSimulation('revision'),
    // Both have the same key, which is derived from the post.
    alsoRemoved: [NEW_KEY_PER_REPEAT],
    scenario: 'two workers deliver the same posts concurrently',
  },
  {
    ...ofSimulation('lost write'),
    scenario: 'a post is deleted while it is armed',
  },
  {
    ...ofSimulation('reconciliation'),
    alsoRemoved: [NEW_KEY_PER_REPEAT],
    scenario: 'the response to an accepted call is lost',
  },
  {
    guard: 'A restored delivery is searched for before it is sent',
    platform: 'mastodon',
    removed: [{ anchor: 'restored delivery', change: () => 'return post' }],
    scenario: 'the database is restored from a backup',
    violates: 'I1',
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
    guard: 'The key of a notification is unique',
    removed: [{ anchor: 'unique notification', change: (code) => code.replace(', { unique: true }', '') }],
    scenario: 'four sweepers relay the same events',
    violates: 'I6',
  },
  {
    guard: 'A change of a post stores its events in the same write',
    removed: [{ anchor: 'events in the write of their change', change: () => '...{}' }],
    scenario: 'an ended delivery is ended again',
    violates: ['I6', 'I9'],
  },
  {
    guard: 'The sweeper relays the events that a process left',
    removed: [{ anchor: 'relay of events that a crash left', change: () => 'const relayed = 0' }],
    scenario: 'processes end before they relay events',
    violates: ['I6', 'I9'],
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
]
