import { trimTrailingSlashes } from './text.ts'
import { MINUTE } from './times.ts'

/** Maximal time that a user may spend on another site's login page. */
export const REDIRECT_LIFETIME_MS = 10 * MINUTE

/** Appends a path to a configured URL, which may end in a slash. */
export function joinUrl(base: string, path: string): string {
  return trimTrailingSlashes(base) + path
}
