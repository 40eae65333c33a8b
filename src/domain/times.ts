/** Durations in milliseconds. */
export const SECOND = 1_000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

/** A time to wait as users read it, such as `40 seconds` or `12 minutes`. */
export function waitInWords(seconds: number): string {
  const [count, unit] = seconds < 100 ? [seconds, 'second'] : [Math.ceil((seconds * SECOND) / MINUTE), 'minute']
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}

/** As it is said to people, in UTC. */
export function dayOf(instant: Date): string {
  return instant.toISOString().slice(0, 10)
}
