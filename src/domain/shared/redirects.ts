import { trimTrailingSlashes } from './text.ts'
import { MINUTE } from './times.ts'

/** How long a user may take on another site's page. */
export const REDIRECT_LIFETIME_MS = 10 * MINUTE

/** An address below a configured one, which may end in a slash. */
export function joinUrl(base: string, path: string): string {
  return trimTrailingSlashes(base) + path
}
