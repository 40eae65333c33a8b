import type { ApiContext } from '../../context.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import type { Role } from '../../domain/users/user.ts'
import type { VerifiedClaims } from '../../domain/users/access-tokens.ts'
import type { SocketEndReason } from '../../telemetry/metrics.ts'
import type { RecordChange } from '../../store/shared/change-stream.ts'
import type { ChangeHold, SharedChanges } from '../shared/shared-changes.ts'
import { verifyAccessToken, loadRequestUser } from '../shared/identity.ts'
import { presentNotification } from '../notifications/present.ts'
import type { NotificationView } from '../notifications/schema.ts'
import { toSocketEnding } from './close-details.ts'
import { createMultiMap } from '../shared/multi-map.ts'

/** A client connection that receives the notifications of a user, whatever the transport. */
export interface Listener {
  send(notification: NotificationView): void
  end(ending: SocketEndReason): void
}

export interface Membership {
  expiresAt(): Date
  /** Starts sending notifications. Call it when the client is informed that it is connected. */
  listen(): void
  /** Continues with a new token of the same user. @throws like `admit` */
  renew(token: string | null): Promise<void>
  leave(): void
}

interface Member {
  listener: Listener
  claims: VerifiedClaims
  /** Null until user and session are loaded. */
  role: Role | null
  isListening: boolean
  /** True when the last check of its rights failed because of an outage. */
  needsRecheck: boolean
}

/**
 * Sends stored notifications from the database change stream to the listeners of this process. A listener joins with a valid access
 * token of its user.
 */
export function createHub(context: ApiContext, changes: SharedChanges, { socketsPerUser }: { socketsPerUser: number }) {
  const { clock, logger } = context
  const membersByUser = createMultiMap<Member>()
  const membersBySession = createMultiMap<Member>()
  /** Null without members. */
  let hold: ChangeHold | null = null

  function onChange(change: RecordChange): void {
    if (change.kind === 'notification') deliver(presentNotification(change.notification))
    else if (change.kind === 'user') for (const member of membersByUser.get(change.userId)) void recheckMember(member)
    else if (change.kind === 'session') {
      for (const member of membersBySession.get(change.sessionId)) void recheckMember(member)
    }
  }

  function deliver(notification: NotificationView): void {
    for (const { isListening, listener } of [...membersByUser.get(notification.userId)]) {
      if (isListening) listener.send(notification)
    }
  }

  /** Checks the rights of a member again, by the same rule as for requests. */
  async function recheckMember(member: Member): Promise<void> {
    try {
      const { role } = await loadRequestUser(context, member.claims)
      member.needsRecheck = false
      if (member.role !== null && member.role !== role) member.listener.end('changed')
    } catch (error) {
      const ending = toSocketEnding(error)
      member.needsRecheck = ending === 'unavailable'
      if (!member.needsRecheck) member.listener.end(ending)
    }
  }

  /** Ends all connections after missed changes. The stream does not repeat them; clients reload the list after they reconnect. */
  function onGap(): void {
    logger.warn('database changes missed, sockets disconnected')
    for (const { listener } of membersByUser.all()) listener.end('gap')
  }

  function join(member: Member): void {
    hold ??= changes.hold({ onChange, onGap })
    membersByUser.add(member.claims.userId, member)
    membersBySession.add(member.claims.sessionId, member)
  }

  function leave(member: Member): void {
    membersByUser.remove(member.claims.userId, member)
    membersBySession.remove(member.claims.sessionId, member)
    if (membersByUser.size > 0) return
    hold?.release()
    hold = null
  }

  /** @throws ServiceError 401, 403 or 503 */
  async function readRole(member: Member): Promise<void> {
    const { role } = await loadRequestUser(context, member.claims)
    member.role = role
  }

  return {
    /**
     * Adds a listener for the user of a token.
     * @throws ServiceError 401, 403, 429 for a user with too many sockets, 503
     */
    async admit(token: string | null, listener: Listener): Promise<Membership> {
      const claims = verifyAccessToken(context, token)
      if (membersByUser.get(claims.userId).size >= socketsPerUser) {
        throw new ServiceError('RATE_LIMITED', 'Too many open connections. Close another tab or device and try again.')
      }
      const member: Member = { listener, claims, role: null, isListening: false, needsRecheck: false }
      // Joins before it reads the records, so that later changes reach the member.
      join(member)
      try {
        await hold!.opened()
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
          const renewed = verifyAccessToken(context, fresh)
          if (renewed.userId !== claims.userId) throw new ServiceError('UNAUTHORIZED', 'Unauthorized')
          leave(member)
          member.claims = renewed
          join(member)
          await readRole(member)
        },
      }
    },

    /** Ends members whose token has expired, and checks members again whose last check failed. */
    tick(): void {
      const now = clock.now()
      for (const member of membersByUser.all()) {
        if (member.claims.expiresAt <= now) member.listener.end('expired')
        else if (member.needsRecheck) void recheckMember(member)
      }
    },
  }
}

export type Hub = ReturnType<typeof createHub>
