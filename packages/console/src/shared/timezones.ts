/** The zones that the browser knows, with the current one. */
export function listTimezones(current: string): string[] {
  return [...new Set(['UTC', current, ...Intl.supportedValuesOf('timeZone')])].sort()
}
