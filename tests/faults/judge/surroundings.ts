import type { Evidence, Operation, Outage, Violation } from './evidence.ts'

/**
 * How long after something is back the service may still say that it is not. A process that was killed within a transaction bars
 * its user from creating posts until MongoDB ends that, after ten seconds here, checked every five.
 */
const RECOVERY_MS = 20_000
/** Whose absence every API process may feel. */
const FELT_BY_ALL = /^(mongod|temporal|storage|api-\d+)$/
const AROUND = 60

/** I7: a planted secret is only where it must be. */
export function judgeSecrets({ canaries, documents, operations }: Evidence): Violation[] {
  const answers = operations.map(({ kind, postId, body }) => ({
    where: `the answer to a ${kind} of ${postId ?? 'no post'}`,
    text: body === undefined ? '' : JSON.stringify(body),
  }))
  return [...documents, ...answers].flatMap(({ where, text }) =>
    canaries
      .filter(({ mayStandIn = [] }) => !mayStandIn.some((place) => where.startsWith(place)))
      .flatMap(({ name, value }) => {
        const at = text.indexOf(value)
        if (at < 0) return []
        const around = text.slice(Math.max(0, at - AROUND), at).replaceAll('\n', ' ')
        return [{ invariant: 'I7' as const, sentence: `${name} is in ${where}, after "${around}"` }]
      }),
  )
}

/** Of all deliveries that find an account's tokens ended, one renews them (single flight). */
export function judgeRenewals({ platforms }: Evidence): Violation[] {
  return platforms.flatMap(({ platform, renewals = [] }) =>
    renewals
      .filter(({ made, due }) => made > due)
      .map(({ account, made, due }) => ({
        invariant: 'renewal' as const,
        sentence: `the tokens of ${account} on ${platform} ended ${due} times and were renewed ${made} times`,
      })),
  )
}

/** A callback is used once, and only by the browser and for the account it was begun with. */
export function judgeExchanges({ platforms }: Evidence): Violation[] {
  return platforms.flatMap(({ platform, exchanges: { made, due } = { made: 0, due: 0 } }) =>
    made <= due
      ? []
      : [
          {
            invariant: 'connect',
            sentence: `${platform} was asked for tokens ${made} times, of ${due} good callbacks`,
          },
        ],
  )
}

/** I8: no process ends by itself, every request is answered, and a 5xx is a 502 of a platform or a 503 of a server that is down. */
export function judgeProcesses({ exits, operations, outages }: Evidence): Violation[] {
  const ended = exits
    .filter(({ intended }) => !intended)
    .map(({ process, at, how }) => `${process} ${how} by itself at ${new Date(at).toISOString()}`)
  return [...ended, ...operations.flatMap((operation) => problemOf(operation, outages))].map((sentence) => ({
    invariant: 'I8',
    sentence,
  }))
}

function problemOf(operation: Operation, outages: Outage[]): string[] {
  const { kind, postId, status, process, sentAt } = operation
  const what = `a ${kind} of ${postId ?? 'no post yet'} at ${new Date(sentAt).toISOString()}`
  if (status === null) {
    const isExcused = outages.some((outage) => outage.what === process && meets(operation, outage))
    return isExcused ? [] : [`${what} got no answer, although ${process ?? 'the API'} was up`]
  }
  if (status < 500 || status === 502) return []
  const isExcused = outages.some((outage) => FELT_BY_ALL.test(outage.what) && meets(operation, outage))
  if (status === 503 && isExcused) return []
  return [`${what} was answered ${status}${status === 503 ? ' while every server was up' : ''}: ${reasonOf(operation)}`]
}

function meets({ sentAt, answeredAt }: Operation, { from, until }: Outage): boolean {
  return (answeredAt ?? Infinity) >= from && (until === null || sentAt <= until + RECOVERY_MS)
}

function reasonOf({ body }: Operation): string {
  return (body as { message?: string } | undefined)?.message ?? 'without a message'
}
