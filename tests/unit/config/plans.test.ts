import { expect, it } from 'vitest'
import { planLimits } from '../../../src/config/plans.ts'
import { readConfig } from '../../../src/config/schema.ts'
import { CONFIG_SECRETS } from './secrets.ts'

const limitsWith = (env: Record<string, string>) => planLimits(readConfig({ ...CONFIG_SECRETS, ...env }))
const stripe = { STRIPE_SECRET_KEY: 'sk', STRIPE_WEBHOOK_SECRETS: 'whsec', STRIPE_PRICE_ID: 'price' }

it('with payments the plans have the limits of the specification', () => {
  expect(limitsWith(stripe)).toEqual({
    free: { maxPosts: 30, maxCaptionGenerations: 15 },
    pro: { maxPosts: 60, maxCaptionGenerations: 30 },
  })
})

it('without payments, where nothing resets the usage, no plan ends after a few posts or captions', () => {
  const limits = { maxPosts: 1_000_000, maxCaptionGenerations: 1_000_000 }
  expect(limitsWith({})).toEqual({ free: limits, pro: limits })
  expect(limitsWith({ PLAN_FREE_MAX_POSTS: '' })).toEqual({ free: limits, pro: limits })
})

it.each([{}, stripe])('the operator sets each limit, zero included: %j', (payments) => {
  const set = {
    PLAN_FREE_MAX_POSTS: '0',
    PLAN_FREE_MAX_CAPTIONS: '1',
    PLAN_PRO_MAX_POSTS: '2',
    PLAN_PRO_MAX_CAPTIONS: '3',
  }
  expect(limitsWith({ ...payments, ...set })).toEqual({
    free: { maxPosts: 0, maxCaptionGenerations: 1 },
    pro: { maxPosts: 2, maxCaptionGenerations: 3 },
  })
})

it.each(['-1', '1.5', 'many'])('a limit is a whole number, so %s is refused', (value) => {
  expect(() => limitsWith({ PLAN_FREE_MAX_POSTS: value })).toThrow('PLAN_FREE_MAX_POSTS')
})
