import type { Context } from '../../context.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { MINUTE, SECOND } from '../../domain/shared/times.ts'
import type { Role } from '../../domain/users/user.ts'
import type { VerifiedClaims } from '../../domain/users/access-tokens.ts'
import type { SocketEndReason } from '../../telemetry/metrics.ts'
import type { RecordChange, ChangeFeed } from '../../store/shared/change-stream.ts'
import { readClaims, readStanding, type IdentityDeps } from '../shared/identity.ts'
import { presentNotification } from '../notifications/present.ts'
import type { NotificationView } from '../notifications/schema.ts'
import { endingOf } from './endings.ts'
import { createGroups } from './groups.ts'

/** One who listens for a user, whatever the transport. */
export interface Listener {
  send(notification: NotificationView): void
  end(ending: SocketEndReason): void
}

export interface Membership {
  expiresAt(): Date
  /** From now on the listener is sent what comes: to be called when it is told that it is connected. */
  listen(): void
  /** Goes on with a fresh token of the same user. @throws like `admit` */
  renew(token: string | null): Promise<void>
  leave(): void
}

interface Member {
  listener: Listener
  claims: VerifiedClaims
  /** Null until user and session were read. */
  role: Role | null
  isListening: boolean
  /** Could not be looked at when it had to be. */
  isDoubtful: boolean
}

type Deps = IdentityDeps & Pick<Context, 'changes' | 'logger'>

/** Opening a stream costs the database more than following one for a while that nobody listens to. */
const FOLLOW_UNHEARD_MS = MINUTE
const FOLLOWING_WITHIN_MS = 5 * SECOND

/**
 * Hands what is stored in the database to those who listen in this process. Each user has a room; whoever has a good token joins
 * it. While there are none in any room the database is not followed.
 */
export function createHub(deps: Deps, { socketsPerUser }: { socketsPerUser: number }) {
  const { clock, logger } = deps
  const rooms = createGroups<Member>()
  const sessions = createGroups<Member>()
  let feed: ChangeFeed | null = null
  let unheard: NodeJS.Timeout | undefined

  function onChange(change: RecordChange): void {
    if (change.kind === 'notification') deliver(presentNotification(change.notification))
    else if (change.kind === 'user') for (const member of rooms.of(change.userId)) void review(member)
    else for (const member of sessions.of(change.sessionId)) void review(member)
  }

  function deliver(notification: NotificationView): void {
    for (const { isListening, listener } of [...rooms.of(notification.userId)]) {
      if (isListening) listener.send(notification)
    }
  }

  /** Looks again whether the member may stay, by the very rule that requests are measured by. */
  async function review(member: Member): Promise<void> {
    try {
      const { role } = await readStanding(deps, member.claims)
      member.isDoubtful = false
      if (member.role !== null && member.role !== role) member.listener.end('changed')
    } catch (error) {
      const ending = endingOf(error)
      member.isDoubtful = ending === 'unavailable'
      if (!member.isDoubtful) member.listener.end(ending)
    }
  }

  /** What is missed once is not made up for by the stream: a client that connects again reads the list. */
  function onGap(): void {
    logger.warn('Changes of the database were missed; those who listen are told to connect again')
    for (const { listener } of rooms.all()) listener.end('gap')
  }

  async function follow(): Promise<void> {
    clearTimeout(unheard)
    feed ??= deps.changes.follow({
      onChange,
      onGap,
      onTrouble: (error) => logger.warn({ err: error }, 'Changes of the database cannot be followed for the moment'),
    })
    await within(FOLLOWING_WITHIN_MS, feed.following())
  }

  function unfollow(): void {
    clearTimeout(unheard)
    feed?.close()
    feed = null
  }

  function join(member: Member): void {
    rooms.add(member.claims.userId, member)
    sessions.add(member.claims.sessionId, member)
  }

  function leave(member: Member): void {
    rooms.remove(member.claims.userId, member)
    sessions.remove(member.claims.sessionId, member)
    if (rooms.size > 0 || feed === null) return
    clearTimeout(unheard)
    unheard = setTimeout(unfollow, FOLLOW_UNHEARD_MS).unref()
  }

  /** @throws ServiceError 401, 403 or 503 */
  async function read(member: Member): Promise<void> {
    const { role } = await readStanding(deps, member.claims)
    member.role = role
  }

  return {
    /**
     * Lets the bearer of a token into the room of its user.
     * @throws ServiceError 401, 403, 429 for a user with too many sockets, 503
     */
    async admit(token: string | null, listener: Listener): Promise<Membership> {
      const claims = readClaims(deps, token)
      if (rooms.of(claims.userId).size >= socketsPerUser) {
        throw new ServiceError('RATE_LIMITED', 'Too many open connections. Close another tab or device and try again.')
      }
      const member: Member = { listener, claims, role: null, isListening: false, isDoubtful: false }
      // First into the room, then the look at the records: what changes after it reaches a member.
      join(member)
      try {
        await follow()
        await read(member)
      } catch (error) {
        leave(member)
        throw error
      }
      return {
        expiresAt: () => member.claims.expiresAt,
        listen: () => void (member.isListening = true),
        leave: () => leave(member),
        async renew(fresh) {
          const renewed = readClaims(deps, fresh)
          if (renewed.userId !== claims.userId) throw new ServiceError('UNAUTHORIZED', 'Unauthorized')
          leave(member)
          member.claims = renewed
          join(member)
          clearTimeout(unheard)
          await read(member)
        },
      }
    },

    /** Ends whose token has ended, and looks again at those who could not be looked at. */
    tick(): void {
      const now = clock.now()
      for (const member of rooms.all()) {
        if (member.claims.expiresAt <= now) member.listener.end('expired')
        else if (member.isDoubtful) void review(member)
      }
    },

    close: unfollow,
  }
}

export type Hub = ReturnType<typeof createHub>

async function within(ms: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    const error = new ServiceError('SERVICE_UNAVAILABLE', 'The service is not available for the moment, try again')
    timer = setTimeout(() => reject(error), ms)
  })
  try {
    await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
