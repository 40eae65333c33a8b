import type { Evidence, Operation, Outage, Violation } from './evidence.ts'

/**
 * How long after an outage the service may still return 503. A process killed inside a transaction blocks its user's creates until
 * MongoDB aborts the transaction. MongoDB here does that after ten seconds and checks every five.
 */
const RECOVERY_MS = 20_000
/** Every API process may depend on these processes. */
const SHARED_PROCESSES = /^(mongod|temporal|storage|api-\d+)$/
/** A worker holds the records of a transaction, too: that of the relay of events. */
const RECORD_HOLDERS = /^worker-\d+$/
const BUSY_RECORD = 'The database is busy'
/** How many characters before a secret its violation quotes. */
const QUOTE_LENGTH = 60

/** I7: a planted secret is only in the sources that may contain it. */
export function judgeSecrets({ canaries, documents, operations }: Evidence): Violation[] {
  const responses = operations.map(({ kind, postId, body }) => ({
    source: `the response to "${kind}"${postId === null ? '' : ` of post ${postId}`}`,
    text: body === undefined ? '' : JSON.stringify(body),
  }))
  return [...documents, ...responses].flatMap(({ source, text }) =>
    canaries
      .filter(({ allowedIn = [] }) => !allowedIn.some((prefix) => source.startsWith(prefix)))
      .flatMap(({ name, value }) => {
        const at = text.indexOf(value)
        if (at < 0) return []
        const context = text.slice(Math.max(0, at - QUOTE_LENGTH), at).replaceAll('\n', ' ')
        return [{ invariant: 'I7' as const, message: `${name} is in ${source}, after "${context}"` }]
      }),
  )
}

/** Renewal: of all deliveries that find an account's tokens expired, only one renews them (single flight). */
export function judgeRenewals({ platforms }: Evidence): Violation[] {
  return platforms.flatMap(({ platform, renewals = [] }) =>
    renewals
      .filter(({ actual, expected }) => actual > expected)
      .map(({ account, actual, expected }) => ({
        invariant: 'renewal' as const,
        message: `the tokens of ${account} on ${platform} expired ${expected} times and were renewed ${actual} times`,
      })),
  )
}

/** Connect: a callback is used once, and only by the browser and for the account that started it. */
export function judgeExchanges({ platforms }: Evidence): Violation[] {
  return platforms.flatMap(({ platform, exchanges: { actual, expected } = { actual: 0, expected: 0 } }) =>
    actual <= expected
      ? []
      : [
          {
            invariant: 'connect',
            message: `${platform} got ${actual} token requests for ${expected} valid callbacks`,
          },
        ],
  )
}

/** I8: no process ends unexpectedly, and every request gets a response. A 5xx is a 502 for a platform or a 503 while a server is down. */
export function judgeProcesses({ exits, operations, outages }: Evidence): Violation[] {
  const ended = exits
    .filter(({ intended }) => !intended)
    .map(({ process, at, how }) => `${process} ${how} unexpectedly at ${new Date(at).toISOString()}`)
  return [...ended, ...operations.flatMap((operation) => findProblem(operation, outages))].map((message) => ({
    invariant: 'I8',
    message,
  }))
}

function findProblem(operation: Operation, outages: Outage[]): string[] {
  const { kind, postId, status, process, sentAt } = operation
  const request = `"${kind}" of ${postId === null ? 'no post' : `post ${postId}`} at ${new Date(sentAt).toISOString()}`
  if (status === null) {
    const isExcused = outages.some((outage) => outage.process === process && overlaps(operation, outage))
    return isExcused ? [] : [`${request} got no response, although ${process ?? 'the API'} was up`]
  }
  if (status < 500 || status === 502) return []
  const { message = 'without a message' } = (operation.body ?? {}) as { message?: string }
  const mayBlock = (outage: Outage) =>
    SHARED_PROCESSES.test(outage.process) || (RECORD_HOLDERS.test(outage.process) && message.startsWith(BUSY_RECORD))
  const isExcused = outages.some((outage) => mayBlock(outage) && overlaps(operation, outage))
  if (status === 503 && isExcused) return []
  return [`${request} returned ${status}${status === 503 ? ' while every server was up' : ''}: ${message}`]
}

/** Returns whether the outage, with the recovery after it, may have affected the operation. */
function overlaps({ sentAt, answeredAt }: Operation, { from, until }: Outage): boolean {
  return (answeredAt ?? Infinity) >= from && (until === null || sentAt <= until + RECOVERY_MS)
}
