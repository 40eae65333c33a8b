import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js'

/**
 * The recorded histories and what each covers. `record.ts` writes them to the folder `next`, one event per line and with readable payloads.
 * Until release 0.1.0, a change of a workflow records them anew. A release renames `next` to its version, such as `v0.1.0`; from then on that
 * folder never changes, because workflows of that release may still be waiting somewhere, and `next` gets recordings of new branches.
 */
export const RECORDINGS = {
  immediate: 'an immediate text is published by the first attempt, within the workflow task',
  'immediate-slow': 'a first attempt without a result after two seconds is continued by an activity',
  'immediate-repeated': 'a first attempt that failed is repeated by an activity',
  scheduled: 'a scheduled post waits, is armed, and is published on two platforms',
  'prepared-ahead': 'media is prepared on both platforms before the post is armed',
  'preparation-given-up': 'a preparation fails until the post is armed, and the delivery goes on',
  rescheduled: 'a waiting post is moved: its timer is cancelled, and the new plan is run',
  'cancelled-while-waiting': 'a waiting post is cancelled',
  'cancelled-while-armed': 'a post is cancelled while its activities wait for its instant',
  'cancelled-by-operator': 'the workflow is cancelled in Temporal, which cancels its post',
  'deleted-while-waiting': 'the post of a waiting workflow is deleted',
  'one-platform-refused': 'one platform refuses the post, and the other one publishes it',
  retried: 'the user retries the failed platform, which starts the workflow with a signal',
  'taken-back': 'a removal from the platforms fails once and is repeated',
  'delivery-given-up': 'an activity fails permanently, and its delivery is given up',
  'posts-restarted': 'all open posts are restarted',
  swept: 'a run of the sweeper',
  'due-posts-checked': 'scheduled posts are checked before they are due',
  'import-applied': 'an import creates its posts in several batches',
  'import-paused': 'an import stops at the allowance of its user',
  'import-resumed': 'a paused import is resumed and completed',
  'payments-watched': 'two events of the payment processor, and the wait for the end of the period',
  'payments-period-ended': 'a period ends without an event, and the subscription is read',
  'payments-ended': 'events up to the end of the subscription',
  'payments-not-there': 'a user without a subscription',
  'payment-routed': 'an event is routed to its user and checked again later',
  'payment-of-no-user': 'an event without a user',
  'billing-reconciled': 'the daily reconciliation with the payment processor',
  'followers-collected': 'follower counts are collected by eight collectors',
  'followers-of-new-account': 'the follower count of a newly connected account',
  'metrics-collected': 'metrics are collected by eight collectors',
  'metrics-collected-in-turns': 'a turn is repeated, and collectors resume, immediately and after a while',
  'metrics-refreshed': 'a user refreshes the metrics of a post',
  'dead-letter-replayed': 'a failed collection is repeated',
  'snapshots-downsampled': 'old snapshots are reduced',
  'tokens-renewed': 'the daily renewal of tokens',
  'uploads-cleaned': 'the daily clean-up of uploads',
  'webhook-delivered': 'an event is delivered to a webhook',
  'webhook-waits-for-retry': 'a delivery failed, and the workflow waits for its retry',
  'webhook-woken-and-retried': 'a signal ends the wait, and a later round retries the delivery',
  'mail-sent': 'a mail is sent',
  'push-delivered': 'a notification is pushed to a device',
  'erasure-under-way': 'an account is erased, and the workflow waits for the second round',
  'erasure-completed': 'an account is erased in both rounds',
} as const

export type RecordingName = keyof typeof RECORDINGS

const FOLDER = fileURLToPath(new URL('./', import.meta.url))
/** `json/plain`, in base64 as in all metadata. */
const JSON_ENCODING = 'anNvbi9wbGFpbg=='
/** Fields that name the recording machine or change with every recording. The workflows do not depend on them. */
const LEFT_OUT = ['taskId', 'identity', 'requestId', 'workerVersion', 'meteringMetadata', 'stackTrace']

/** The paths of all recorded histories, relative to this folder. */
export function listRecordings(): string[] {
  return readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.json'))
    .toSorted()
}

export interface RecordedEvent {
  workflowExecutionStartedEventAttributes?: { workflowType: { name: string }; workflowId: string }
  userMetadata?: { summary?: { json: string } }
}

export const readEvents = (file: string): RecordedEvent[] =>
  JSON.parse(readFileSync(`${FOLDER}${file}`, 'utf8')) as RecordedEvent[]

/** Returns a history for the replayer. */
export const toHistory = (events: RecordedEvent[]) => historyFromJSON({ events: mapObjects(events, toPayload) })

/** Formats the JSON of a history for a file. */
export function formatHistory(json: string): string {
  const { events } = JSON.parse(json) as { events: object[] }
  const lines = events.map((event) => JSON.stringify(mapObjects(event, toReadable)))
  return `[\n${lines.join(',\n')}\n]\n`
}

type Fields = Record<string, unknown>

function toReadable(fields: Fields): Fields {
  const { metadata, data, ...others } = fields
  const { encoding, ...rest } = (metadata ?? {}) as Fields
  if (encoding === JSON_ENCODING && typeof data === 'string') {
    const json: unknown = JSON.parse(Buffer.from(data, 'base64').toString())
    return { json, ...(Object.keys(rest).length > 0 && { metadata: rest }), ...others }
  }
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !LEFT_OUT.includes(name)))
}

function toPayload(fields: Fields): Fields {
  if (!('json' in fields)) return fields
  const { json, metadata = {}, ...others } = fields
  const data = Buffer.from(JSON.stringify(json)).toString('base64')
  return { metadata: { encoding: JSON_ENCODING, ...(metadata as Fields) }, data, ...others }
}

/** Applies a function to every object of a JSON value, the outer ones first. Leaves what is in a `json` field as it is. */
function mapObjects(value: unknown, map: (fields: Fields) => Fields): unknown {
  if (Array.isArray(value)) return value.map((item) => mapObjects(item, map))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(map(value as Fields))
  return Object.fromEntries(entries.map(([name, field]) => [name, name === 'json' ? field : mapObjects(field, map)]))
}
