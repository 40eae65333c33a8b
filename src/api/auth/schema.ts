import { Type } from '@sinclair/typebox'
import { MAX_PASSWORD_LENGTH } from '../../domain/passwords.ts'
import { ROLES, SUBSCRIPTION_PLANS, SUBSCRIPTION_STATUSES } from '../../domain/user.ts'
import { Instant, nullable, oneOf } from '../schemas/common.ts'

export const LogInBody = Type.Object({
  email: Type.String({ minLength: 1, maxLength: 320 }),
  password: Type.String({ minLength: 1, maxLength: MAX_PASSWORD_LENGTH }),
})

/** The signed-in user as every client sees itself; `id` and `_id` are the same. */
export const UserSchema = Type.Object({
  id: Type.String(),
  _id: Type.String(),
  email: Type.String(),
  name: Type.String(),
  role: oneOf(ROLES),
  avatar: nullable(Type.String()),
  timezone: Type.String(),
  subscription: Type.Object({
    plan: oneOf(SUBSCRIPTION_PLANS),
    status: oneOf(SUBSCRIPTION_STATUSES),
    processorCustomerId: nullable(Type.String()),
    processorSubscriptionId: nullable(Type.String()),
    currentPeriodStart: nullable(Instant),
    currentPeriodEnd: nullable(Instant),
    cancelAtPeriodEnd: Type.Boolean(),
  }),
  usage: Type.Object({ postsCreated: Type.Integer(), captionGenerations: Type.Integer() }),
  limits: Type.Object({ maxPosts: Type.Integer(), maxCaptionGenerations: Type.Integer() }),
})

export const LoggedIn = Type.Object({
  accessToken: Type.String({ description: 'To be sent as Authorization: Bearer' }),
  user: UserSchema,
})

export const Refreshed = Type.Object({ accessToken: Type.String() })

export const Me = Type.Object({ user: UserSchema })
