import { Type } from '@sinclair/typebox'
import { SUBSCRIPTION_PLANS } from '../../domain/billing/subscription.ts'
import { UserSchema } from '../auth/schema.ts'
import { oneOf } from '../shared/schemas/common.ts'

export const HostedPage = Type.Object(
  {
    url: Type.String({ description: 'A page of the payment processor, to send the user to' }),
  },
  { title: 'HostedPage' },
)

const { subscription, usage, limits } = UserSchema.properties

export const SubscriptionStatus = Type.Object(
  { subscription, usage, limits, plan: oneOf(SUBSCRIPTION_PLANS) },
  { title: 'SubscriptionStatus' },
)

/** For the document alone: the signature is checked over the bytes, then the processor's own library reads them. */
export const PaymentEvent = Type.Object(
  {
    id: Type.String({ examples: ['evt_1Q'] }),
    object: Type.Literal('event'),
    type: Type.String({ examples: ['customer.subscription.updated'] }),
    created: Type.Integer({ description: 'Unix seconds' }),
    data: Type.Object({ object: Type.Object({}, { additionalProperties: true }) }),
  },
  { title: 'PaymentEvent', additionalProperties: true },
)

export const Received = Type.Object({ received: Type.Literal(true) })
