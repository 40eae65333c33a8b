import type { Static } from '@sinclair/typebox'
import type { User } from '../../domain/users/user.ts'
import type { Session } from '../../store/users/sessions.ts'
import { toInstant } from '../shared/schemas/common.ts'
import type { Device, UserRecord, UserSchema } from './schema.ts'

export function presentUser(user: User): Static<typeof UserSchema> {
  const { subscription, usage, limits } = user
  return {
    id: user._id,
    _id: user._id,
    email: user.email,
    name: user.name,
    role: user.role,
    avatar: user.avatar,
    timezone: user.timezone,
    holdSeconds: user.holdSeconds ?? 0,
    auth: { provider: user.auth.provider },
    subscription: {
      plan: subscription.plan,
      status: subscription.status,
      processorCustomerId: subscription.processorCustomerId,
      processorSubscriptionId: subscription.processorSubscriptionId,
      currentPeriodStart: toInstant(subscription.currentPeriodStart),
      currentPeriodEnd: toInstant(subscription.currentPeriodEnd),
      cancelAtPeriodEnd: subscription.cancelAtPeriodEnd,
    },
    usage: { postsCreated: usage.postsCreated, captionGenerations: usage.captionGenerations },
    limits: { maxPosts: limits.maxPosts, maxCaptionGenerations: limits.maxCaptionGenerations },
  }
}

/** Converts the full user record without its secrets: password hash and token version. */
export function presentRecord(user: User): Static<typeof UserRecord> {
  return {
    ...presentUser(user),
    isDisabled: user.isDisabled,
    createdAt: user.createdAt.toISOString(),
    lastLogin: toInstant(user.lastLogin),
  }
}

export function presentDevice(session: Session, currentSessionId: string): Static<typeof Device> {
  return {
    tokenId: session._id,
    ipAddress: session.ipAddress,
    userAgent: session.userAgent,
    createdAt: session.createdAt.toISOString(),
    lastActive: session.lastActive.toISOString(),
    isCurrent: session._id === currentSessionId,
  }
}
