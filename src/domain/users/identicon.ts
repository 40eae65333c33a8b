import { minidenticon } from 'minidenticons'

/** The picture of a user who chose none, the same for as long as the account lives. */
export function identicon(userId: string): string {
  return `data:image/svg+xml,${encodeURIComponent(minidenticon(userId))}`
}
