/** The zones that the browser knows, with the current one. */
export function listTimezones(current: string): string[] {
  return [...new Set(['UTC', current, ...Intl.supportedValuesOf('timeZone')])].sort()
}

/** The timezone of the browser, for the account of a new user. */
export const browserTimezone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone
