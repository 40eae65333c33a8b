import { minidenticon } from 'minidenticons'

/** Returns the default avatar of a user as a data URL. It is always the same for one user id. */
export function identicon(userId: string): string {
  return `data:image/svg+xml,${encodeURIComponent(minidenticon(userId))}`
}
