/** Code points, after normalization. */
export const MAX_PASSWORD_LENGTH = 1_024

/** The form in which passwords are hashed: the same characters however a keyboard composes them. */
export function normalizePassword(password: string): string {
  return password.normalize('NFKC')
}
