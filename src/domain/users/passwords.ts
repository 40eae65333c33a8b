/** Code points, after normalization. */
export const MAX_PASSWORD_LENGTH = 1_024

/** Returns the form of a password that is hashed: the same characters however a keyboard composes them. */
export function normalizePassword(password: string): string {
  return password.normalize('NFKC')
}
