/** A random number generator with a fixed seed (mulberry32). */
export function createChance(seed: number) {
  let state = seed >>> 0

  function fraction(): number {
    state = (state + 0x6d2b79f5) >>> 0
    let value = Math.imul(state ^ (state >>> 15), state | 1)
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61)
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32
  }

  /** Both bounds are included. */
  const between = (from: number, to: number): number => from + Math.floor(fraction() * (to - from + 1))
  const hex = () => between(0, 0xff_ff_ff_ff).toString(16).padStart(8, '0')

  return {
    /** At least 0 and less than 1. */
    fraction,
    between,
    is: (probability: number): boolean => fraction() < probability,
    id: () => hex() + hex() + hex(),

    /** A random subset in the original order. */
    some<T>(choices: readonly T[], least: number, most: number): T[] {
      const picked = new Set(choices)
      const wanted = Math.min(choices.length, between(least, most))
      while (picked.size > wanted) picked.delete([...picked][between(0, picked.size - 1)]!)
      return [...picked]
    },
  }
}

export type Chance = ReturnType<typeof createChance>
