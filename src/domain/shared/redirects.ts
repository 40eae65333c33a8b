import { withoutTrailingSlashes } from './text.ts'
import { MINUTE } from './times.ts'

/** How long a user may take on another site's page. */
export const REDIRECT_ATTEMPT_MS = 10 * MINUTE

/** An address below a configured one, which may end in a slash. */
export function below(base: string, path: string): string {
  return withoutTrailingSlashes(base) + path
}
