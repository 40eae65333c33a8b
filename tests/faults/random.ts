/** Creates a random number generator that returns the same sequence for the same seed (mulberry32). */
export function createRandom(seed: number) {
  let state = seed >>> 0

  /** Returns a number in [0, 1). */
  function fraction(): number {
    state = (state + 0x6d2b79f5) >>> 0
    let value = state
    value = Math.imul(value ^ (value >>> 15), value | 1)
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61)
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32
  }

  /** Returns an integer from `from` to `to`, both included. */
  const between = (from: number, to: number): number => from + Math.floor(fraction() * (to - from + 1))
  const oneOf = <T>(choices: readonly T[]): T => choices[between(0, choices.length - 1)]!

  return {
    between,
    oneOf,
    chance: (probability: number): boolean => fraction() < probability,

    /** Picks a key with a probability in proportion to its weight. */
    weighted<T extends string>(weights: Record<T, number>): T {
      const entries = Object.entries<number>(weights) as [T, number][]
      let left = fraction() * entries.reduce((sum, [, weight]) => sum + weight, 0)
      for (const [choice, weight] of entries) {
        left -= weight
        if (left < 0) return choice
      }
      return entries.at(-1)![0]
    },
  }
}

export type Random = ReturnType<typeof createRandom>
