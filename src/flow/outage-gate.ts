/** After this many failures in a row calls are held: of a server that cannot be reached, and of one that answers with errors. */
const FAILURES_TO_CLOSE = 3
const ANSWERED_FAILURES_TO_CLOSE = 10
/** Fewer accounts may fail by their own fault, except where no call even reached the server. */
const ACCOUNTS_TO_CLOSE = 3
/** The distance between held calls that ask again, so that they keep no process busy, whatever their number. */
const SPACING_MS = 200
const MAX_ACCOUNTS = 10_000

/** Failures without a success in between. */
interface Streak {
  since: number
  failedAt: number
  failures: number
  /** The accounts that failed, up to the number that counts. */
  accounts: Set<string>
  /** The origin that could not be reached. */
  server: string
  /** The last call was not even sent. */
  isUnsent: boolean
  isAnswered: boolean
  /** The next call from then on is a probe. */
  probeAt: number
  /** When the last held call asks again. */
  askAt: number
  /** A read was answered since: only writes fail. */
  readsPass: boolean
}

export interface CallFailure {
  server: string
  isUnsent: boolean
  /** The server itself answered. */
  isAnswered: boolean
  isRead: boolean
}

/** How a call may proceed: as usual, as the only one for a while, or not before a wait. */
export type Admission = 'open' | 'probe' | ({ waitMs: number } & HeldServer)

export interface HeldServer {
  server: string
  /** The last failure here. */
  failedAt: number
}

/**
 * Holds the calls of this process to a server that cannot be reached, apart from a probe now and then. A failing account is held alone
 * at first. Instants are milliseconds of any one clock.
 * @param toWaitMs returns the wait for the next probe from the time since the first failure
 * @param onReturn called when a success ends the wait of others
 */
export function createOutageGate(toWaitMs: (elapsedMs: number) => number, onReturn?: (held: HeldServer) => void) {
  let server: Streak | undefined
  const accounts = new Map<string, Streak>()

  function findClosed(accountId: string): Streak | undefined {
    const own = accounts.get(accountId)
    return [server, own].find((streak) => streak && isClosed(streak, streak === own))
  }

  function add(streak: Streak | undefined, accountId: string, failure: CallFailure, now: number): Streak {
    const { since = now, failures = 0, probeAt = 0, askAt = 0, readsPass = false } = streak ?? {}
    const failed = streak?.accounts ?? new Set<string>()
    return {
      ...{ since, askAt, failedAt: now, failures: failures + 1 },
      ...{ server: failure.server, isUnsent: failure.isUnsent, isAnswered: failure.isAnswered },
      accounts: failed.size < ACCOUNTS_TO_CLOSE ? failed.add(accountId) : failed,
      probeAt: Math.max(probeAt, now + toWaitMs(now - since)),
      readsPass: readsPass && !failure.isRead,
    }
  }

  return {
    /** @param isRead whether the call changes nothing, so that it may pass while only writes fail */
    enter(accountId: string, now: number, isRead = false): Admission {
      const streak = findClosed(accountId)
      if (!streak || (isRead && streak.readsPass)) return 'open'
      if (now < streak.probeAt) {
        streak.askAt = Math.max(streak.probeAt, streak.askAt + SPACING_MS)
        return { waitMs: streak.askAt - now, server: streak.server, failedAt: streak.failedAt }
      }
      streak.probeAt = now + toWaitMs(now - streak.since)
      return 'probe'
    },

    fail(accountId: string, now: number, failure: CallFailure): void {
      if (accounts.size >= MAX_ACCOUNTS) accounts.clear()
      server = add(server, accountId, failure, now)
      accounts.set(accountId, add(accounts.get(accountId), accountId, failure, now))
    },

    /** Records that the server did what it was asked. */
    succeed(accountId: string): void {
      const closed = findClosed(accountId)
      if (server && isClosed(server, false)) accounts.clear()
      else accounts.delete(accountId)
      server = undefined
      if (closed) onReturn?.(closed)
    },

    /** Records that the server answered a read. The next write is a probe. */
    answerRead(accountId: string, now: number): void {
      const streak = findClosed(accountId)
      if (streak && !streak.readsPass) Object.assign(streak, { readsPass: true, probeAt: now })
    },

    /** Lets another call be the probe, because this one was not made. */
    giveBack(accountId: string, now: number): void {
      const streak = findClosed(accountId)
      if (streak) streak.probeAt = now
    },
  }
}

export type OutageGate = ReturnType<typeof createOutageGate>

function isClosed({ failures, accounts, isUnsent, isAnswered }: Streak, isOwn: boolean): boolean {
  const most = isAnswered ? ANSWERED_FAILURES_TO_CLOSE : FAILURES_TO_CLOSE
  return failures >= most && (isOwn || isUnsent || accounts.size >= ACCOUNTS_TO_CLOSE)
}
