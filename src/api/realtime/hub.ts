import type { Context } from '../../context.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { MINUTE, SECOND } from '../../domain/shared/times.ts'
import type { Role } from '../../domain/users/user.ts'
import type { VerifiedClaims } from '../../domain/users/access-tokens.ts'
import type { SocketEnding } from '../../telemetry/metrics.ts'
import type { Change, ChangeFeed } from '../../store/shared/change-stream.ts'
import { verifyAccessToken, loadRequestUser, type AuthenticationDeps } from '../shared/identity.ts'
import { presentNotification } from '../notifications/present.ts'
import type { NotificationView } from '../notifications/schema.ts'
import { toSocketEnding } from './close-details.ts'
import { createMultiMap } from './multi-map.ts'

/** One who listens for a user, whatever the transport. */
export interface Listener {
  send(notification: NotificationView): void
  end(ending: SocketEnding): void
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
  needsRecheck: boolean
}

type HubDeps = AuthenticationDeps & Pick<Context, 'changes' | 'logger'>

/** Opening a stream costs the database more than following one for a while that nobody listens to. */
const IDLE_FEED_MS = MINUTE
const FEED_TIMEOUT_MS = 5 * SECOND

/**
 * Hands what is stored in the database to those who listen in this process. Each user has a room; whoever has a good token joins
 * it. While there are none in any room the database is not followed.
 */
export function createHub(deps: HubDeps, { socketsPerUser }: { socketsPerUser: number }) {
  const { clock, logger } = deps
  const membersByUser = createMultiMap<Member>()
  const membersBySession = createMultiMap<Member>()
  let feed: ChangeFeed | null = null
  let idleTimer: NodeJS.Timeout | undefined

  function onChange(change: Change): void {
    if (change.kind === 'notification') deliver(presentNotification(change.notification))
    else if (change.kind === 'user') for (const member of membersByUser.get(change.userId)) void recheckMember(member)
    else for (const member of membersBySession.get(change.sessionId)) void recheckMember(member)
  }

  function deliver(notification: NotificationView): void {
    for (const { isListening, listener } of [...membersByUser.get(notification.userId)]) {
      if (isListening) listener.send(notification)
    }
  }

  /** Looks again whether the member may stay, by the very rule that requests are measured by. */
  async function recheckMember(member: Member): Promise<void> {
    try {
      const { role } = await loadRequestUser(deps, member.claims)
      member.needsRecheck = false
      if (member.role !== null && member.role !== role) member.listener.end('changed')
    } catch (error) {
      const ending = toSocketEnding(error)
      member.needsRecheck = ending === 'unavailable'
      if (!member.needsRecheck) member.listener.end(ending)
    }
  }

  /** What is missed once is not made up for by the stream: a client that connects again reads the list. */
  function onGap(): void {
    logger.warn('Changes of the database were missed; those who listen are told to connect again')
    for (const { listener } of membersByUser.all()) listener.end('gap')
  }

  async function follow(): Promise<void> {
    clearTimeout(idleTimer)
    feed ??= deps.changes.follow({
      onChange,
      onGap,
      onTrouble: (error) => logger.warn({ err: error }, 'Changes of the database cannot be followed for the moment'),
    })
    await withTimeout(FEED_TIMEOUT_MS, feed.following())
  }

  function closeFeed(): void {
    clearTimeout(idleTimer)
    feed?.close()
    feed = null
  }

  function join(member: Member): void {
    membersByUser.add(member.claims.userId, member)
    membersBySession.add(member.claims.sessionId, member)
  }

  function leave(member: Member): void {
    membersByUser.remove(member.claims.userId, member)
    membersBySession.remove(member.claims.sessionId, member)
    if (membersByUser.size > 0 || feed === null) return
    clearTimeout(idleTimer)
    idleTimer = setTimeout(closeFeed, IDLE_FEED_MS).unref()
  }

  /** @throws ServiceError 401, 403 or 503 */
  async function readRole(member: Member): Promise<void> {
    const { role } = await loadRequestUser(deps, member.claims)
    member.role = role
  }

  return {
    /**
     * Lets the bearer of a token into the room of its user.
     * @throws ServiceError 401, 403, 429 for a user with too many sockets, 503
     */
    async admit(token: string | null, listener: Listener): Promise<Membership> {
      const claims = verifyAccessToken(deps, token)
      if (membersByUser.get(claims.userId).size >= socketsPerUser) {
        throw new ServiceError('RATE_LIMITED', 'Too many open connections. Close another tab or device and try again.')
      }
      const member: Member = { listener, claims, role: null, isListening: false, needsRecheck: false }
      // First into the room, then the look at the records: what changes after it reaches a member.
      join(member)
      try {
        await follow()
        await readRole(member)
      } catch (error) {
        leave(member)
        throw error
      }
      return {
        expiresAt: () => member.claims.expiresAt,
        listen: () => void (member.isListening = true),
        leave: () => leave(member),
        async renew(fresh) {
          const renewed = verifyAccessToken(deps, fresh)
          if (renewed.userId !== claims.userId) throw new ServiceError('UNAUTHORIZED', 'Unauthorized')
          leave(member)
          member.claims = renewed
          join(member)
          clearTimeout(idleTimer)
          await readRole(member)
        },
      }
    },

    /** Ends whose token has ended, and looks again at those who could not be looked at. */
    tick(): void {
      const now = clock.now()
      for (const member of membersByUser.all()) {
        if (member.claims.expiresAt <= now) member.listener.end('expired')
        else if (member.needsRecheck) void recheckMember(member)
      }
    },

    close: closeFeed,
  }
}

export type Hub = ReturnType<typeof createHub>

async function withTimeout(ms: number, work: Promise<void>): Promise<void> {
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
