import { Type } from '@sinclair/typebox'
import { SUBSCRIPTION_PLANS } from '../../domain/user.ts'
import { UserSchema } from '../auth/schema.ts'
import { oneOf } from '../schemas/common.ts'

export const HostedPage = Type.Object({
  url: Type.String({ description: 'A page of the payment processor, to send the user to' }),
})

const { subscription, usage, limits } = UserSchema.properties

export const SubscriptionStatus = Type.Object({ subscription, usage, limits, plan: oneOf(SUBSCRIPTION_PLANS) })

export const Received = Type.Object({ received: Type.Literal(true) })
