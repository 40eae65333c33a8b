import { expect, it } from 'vitest'
import {
  accountExpired,
  accountExpiring,
  deriveAccountEvents,
  type EventAccount,
} from '../../../../src/domain/events/account-events.ts'
import { analyticsCollected, planChanged } from '../../../../src/domain/events/user-events.ts'
import { after, T0 } from '../../../support/posts.ts'

const account = (fields: Partial<EventAccount> = {}): EventAccount => ({
  _id: 'account-1',
  platform: 'mastodon',
  version: 3,
  connected: true,
  handle: '@ann@social.test',
  server: 'https://social.test',
  ...fields,
})
const disconnected = (fields: Partial<EventAccount> = {}): EventAccount => ({
  ...{ _id: 'account-1', platform: 'mastodon', version: 3, connected: false },
  ...fields,
})
const typesOf = (before: EventAccount[], now: EventAccount[]) =>
  deriveAccountEvents(before, now, T0).map(({ type }) => type)

it('an account is connected when it is new, was disconnected, or has a new login', () => {
  expect(typesOf([], [account()])).toEqual(['account.connected'])
  expect(typesOf([disconnected()], [account({ version: 4 })])).toEqual(['account.connected'])
  expect(typesOf([account()], [account({ version: 4 })])).toEqual(['account.connected'])
})

it('an account that stays as it is has no event, nor does one that stays disconnected', () => {
  expect(typesOf([account()], [account()])).toEqual([])
  expect(typesOf([disconnected()], [disconnected()])).toEqual([])
})

it('the event of a disconnected account still names it', () => {
  expect(deriveAccountEvents([account()], [disconnected()], T0)).toEqual([
    {
      id: `evt_account-1-3-disconnected-${T0.getTime()}`,
      type: 'account.disconnected',
      occurredAt: T0,
      data: {
        accountId: 'account-1',
        platform: 'mastodon',
        accountName: '@ann@social.test',
        server: 'https://social.test',
      },
    },
  ])
})

it('every warning about the same end has one id, and every refusal another', () => {
  const [first, second] = [T0, after(T0, 86_400_000)].map((at) => accountExpiring(account(), after(T0, 1), at))
  expect(second!.id).toBe(first!.id)
  expect(first!.data).toMatchObject({ endsAt: after(T0, 1).toISOString() })
  expect(accountExpired(account(), T0).id).not.toBe(accountExpired(account(), after(T0, 1)).id)
})

it('a day has one event of collected metrics', () => {
  const ids = [T0, after(T0, 3_600_000), after(T0, 86_400_000)].map((at) => analyticsCollected('ann', at).id)
  expect(ids).toEqual(['evt_ann-analytics-2026-03-01', 'evt_ann-analytics-2026-03-01', 'evt_ann-analytics-2026-03-02'])
})

it('a change of plan names both plans', () => {
  expect(planChanged({ before: 'free', after: 'pro' }, 'change-1', T0)).toMatchObject({
    id: 'evt_change-1-plan',
    type: 'plan.changed',
    data: { plan: 'pro', previousPlan: 'free' },
  })
})
