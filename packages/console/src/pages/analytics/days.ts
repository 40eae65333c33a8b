const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' })

/** Formats a date such as 2026-05-01. */
export const shortDay = (date: string): string => day.format(new Date(date))
