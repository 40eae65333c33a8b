import { expect, it } from 'vitest'
import { newUser } from '../../../../src/domain/users/user.ts'
import { T0 } from '../../../support/posts.ts'

const LIMITS = { maxPosts: 30, maxCaptionGenerations: 15 }

it('a new user is active on the Free plan, with nothing used and a normalized address', () => {
  const input = { _id: 'user-1', email: ' Ann@Example.COM ', name: 'Ann', passwordHash: 'hash', limits: LIMITS }
  expect(newUser(input, T0)).toEqual({
    ...input,
    email: 'ann@example.com',
    role: 'user',
    auth: { provider: 'email' },
    avatar: expect.stringMatching(/^data:image\/svg/),
    isDisabled: false,
    timezone: 'UTC',
    tokenVersion: 0,
    subscription: {
      plan: 'free',
      status: 'active',
      processorCustomerId: null,
      processorSubscriptionId: null,
      currentPeriodStart: null,
      currentPeriodEnd: null,
      cancelAtPeriodEnd: false,
    },
    billing: {
      revision: 0,
      subscriptions: [],
      applied: null,
      endedIds: [],
      countedInvoiceIds: [],
      customerIds: [],
      checkoutId: null,
    },
    usage: { postsCreated: 0, captionGenerations: 0 },
    createdAt: T0,
    lastLogin: null,
  })
})
