import type { OutgoingHttpHeaders } from 'node:http'
import { Refusal } from './refusal.ts'
import type { Account, State } from './state.ts'

/** The limits of the real server: calls of an application, and what an account may do per day. */
export const LIMITS = { perHour: 1_000, perDay: 5_000, posts: 250, photos: 250, videos: 20 }
export type Limits = Partial<typeof LIMITS>

type Feature = 'posts' | 'photos' | 'videos'

const DAY_SECONDS = 86_400
const REFUSALS: Record<Feature, [title: string, code: number]> = {
  photos: ['You have reached the media upload limit for today', 8004],
  videos: ['You have reached the video upload limit for today', 8011],
  posts: ['You have reached your post limit for today', 8023],
}
const DESCRIPTIONS: Record<Feature, string> = {
  photos: 'the number of photos you can upload per day',
  videos: 'the number of videos you can upload per day',
  posts: 'the number of posts you can create per day',
}

export function createLimits(state: State, overrides: Limits) {
  const limits = { ...LIMITS, ...overrides }
  const calls = new Map<string, number>()

  const today = () => Math.floor(Date.now() / 1_000 / DAY_SECONDS)
  const keyOf = (account: Account, feature: Feature) => `${account.id}/${feature}/${today()}`
  const used = (account: Account, feature: Feature) => state.counts.get(keyOf(account, feature)) ?? 0

  function countCall(span: 'perhour' | 'perday', max: number, seconds: number, who: string): OutgoingHttpHeaders {
    const now = Math.floor(Date.now() / 1_000)
    const window = Math.floor(now / seconds)
    const key = `${span}/${who}/${window}`
    if (calls.size > 10_000) calls.clear()
    calls.set(key, (calls.get(key) ?? 0) + 1)
    const remaining = Math.max(0, max - calls.get(key)!)
    return {
      [`x-ratelimit-${span}-limit`]: String(max),
      [`x-ratelimit-${span}-remaining`]: String(remaining),
      [`x-ratelimit-${span}-reset`]: String((window + 1) * seconds - now),
      ...(calls.get(key)! > max && { spent: 'true' }),
    }
  }

  return {
    /** Counts a call of an application, per hour and day aligned to the clock; returns the headers. @throws Refusal */
    countCall(consumerKey: string): OutgoingHttpHeaders {
      const hour = countCall('perhour', limits.perHour, 3_600, consumerKey)
      const day = countCall('perday', limits.perDay, DAY_SECONDS, consumerKey)
      const { spent, ...headers } = { ...hour, ...day }
      if (spent) throw new Refusal(429, 'Limit Exceeded', 0, headers)
      return headers
    },

    /** @throws Refusal when this many more exceed the daily limit */
    assertRoom(account: Account, wanted: Partial<Record<Feature, number>>): void {
      for (const [feature, count] of Object.entries(wanted) as [Feature, number][]) {
        if (count > 0 && used(account, feature) + count > limits[feature]) throw new Refusal(403, ...REFUSALS[feature])
      }
    },

    count(account: Account, done: Partial<Record<Feature, number>>): void {
      for (const [feature, count] of Object.entries(done) as [Feature, number][]) {
        if (count > 0) state.counts.set(keyOf(account, feature), used(account, feature) + count)
      }
    },

    present: (account: Account) =>
      Object.fromEntries(
        (Object.keys(DESCRIPTIONS) as Feature[]).map((feature) => [
          feature,
          {
            description: DESCRIPTIONS[feature],
            limit: limits[feature],
            remaining: Math.max(0, limits[feature] - used(account, feature)),
            reset_at: (today() + 1) * DAY_SECONDS,
          },
        ]),
      ),
  }
}

export type AccountLimits = ReturnType<typeof createLimits>
