import { Type } from '@sinclair/typebox'
import { SUBSCRIPTION_PLANS } from '../../domain/billing/subscription.ts'
import { UserSchema } from '../auth/schema.ts'
import { stringEnum } from '../shared/schemas/common.ts'

export const HostedPage = Type.Object(
  {
    url: Type.String({ description: 'Page of the payment processor; send the user there' }),
  },
  { title: 'HostedPage' },
)

const { subscription, usage, limits } = UserSchema.properties
const Accounts = Type.Integer({ description: 'Connected platform accounts' })

export const SubscriptionStatus = Type.Object(
  {
    subscription,
    usage: Type.Object({ ...usage.properties, accounts: Accounts }),
    limits: Type.Object({ ...limits.properties, maxAccounts: Accounts }),
    plan: stringEnum(SUBSCRIPTION_PLANS),
  },
  { title: 'SubscriptionStatus' },
)

/** Only for the OpenAPI document: the processor's library verifies the signature of the raw bytes and parses them. */
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
