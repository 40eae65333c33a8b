import { createHash } from 'node:crypto'
import { PLATFORMS, type Platform } from '../../src/domain/shared/platforms.ts'
import { DAY, HOUR } from '../../src/domain/shared/times.ts'
import { createChance } from '../chance.ts'
import type { Crowd } from '../platforms/shared/crowd.ts'

/** Followers on each platform at the start, and the daily increase. */
const FOLLOWERS: Record<Platform, { first: number; aDay: number }> = {
  bluesky: { first: 780, aDay: 3.1 },
  tumblr: { first: 260, aDay: 0.6 },
  facebook: { first: 1_340, aDay: 1.2 },
  threads: { first: 620, aDay: 2.4 },
  mastodon: { first: 410, aDay: 1.6 },
  instagram: { first: 1_910, aDay: 4.3 },
}
const BEGINNING = Date.UTC(2026, 0, 1)

/** A post with more than this factor of the usual counts is a hit, which people share for days. */
const HIT = 2.5
/** The seed with which two suitable posts of the demo become hits. */
const ROLL = 296_836

/**
 * A simulated audience. The counts of a post depend only on its platform, text and age, so that past and future counts
 * are consistent.
 */
export function audienceOn(platform: Platform): Crowd {
  return {
    countsOf({ text, publishedAt }, at) {
      const chance = createChance(seedOf(`${platform}/${text}`))
      // A popular text is popular on every platform.
      const luck = Math.exp(0.8 * bell(createChance(seedOf(`${ROLL} ${text}`)).fraction) + 0.3 * bell(chance.fraction))
      const impressions = followersOn(platform, publishedAt) * 0.35 * luck
      const grown = growth(Math.max(0, at - publishedAt), luck > HIT ? 2.5 * DAY : chance.between(4, 11) * HOUR)
      const likes = impressions * (0.04 + 0.05 * chance.fraction())
      const ends = {
        impressions,
        reach: impressions * (0.7 + 0.2 * chance.fraction()),
        likes,
        shares: likes * (0.08 + 0.2 * chance.fraction()),
        comments: likes * (0.08 + 0.18 * chance.fraction()),
        saved: likes * (0.05 + 0.15 * chance.fraction()),
      }
      return Object.fromEntries(Object.entries(ends).map(([name, end]) => [name, Math.floor(end * grown)]))
    },
    followers: (at) => followersOn(platform, at),
  }
}

/** Slow growth with some days of decline. */
function followersOn(platform: Platform, at: number): number {
  const { first, aDay } = FOLLOWERS[platform]
  const day = Math.floor((at - BEGINNING) / DAY)
  const wavering = createChance(day * PLATFORMS.length + PLATFORMS.indexOf(platform)).between(-2, 2)
  return first + Math.max(0, Math.floor(day * aDay) + wavering)
}

/**
 * The share of its final counts that a post has at an age: a quarter early, most within its usual time, the rest much
 * later.
 */
function growth(ageMs: number, usualMs: number): number {
  const done = (ms: number) => 1 - Math.exp(-ageMs / ms)
  return 0.25 * done(HOUR / 2) + 0.55 * done(usualMs) + 0.2 * done(6 * usualMs)
}

/** Returns an approximately normal random number: around 0, mostly between -2 and 2. */
function bell(fraction: () => number): number {
  return Array.from({ length: 12 }, fraction).reduce((sum, one) => sum + one, -6)
}

function seedOf(name: string): number {
  return createHash('sha256').update(name).digest().readUInt32BE()
}
