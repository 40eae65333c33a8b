import type { Problem } from './service-error.ts'

/** Code points, after normalization. */
const MIN_NAME_LENGTH = 2
const MAX_NAME_LENGTH = 100

/** The form in which names are stored. */
export function normalizeName(name: string): string {
  return name.normalize('NFC').trim()
}

/** What keeps a body's `name` from being accepted. */
export function nameProblems(name: string): Problem[] {
  const message = nameProblem(name)
  return message === null ? [] : [{ path: 'name', code: 'NAME_NOT_ALLOWED', message }]
}

function nameProblem(name: string): string | null {
  const normalized = normalizeName(name)
  const { length } = [...normalized]
  if (length < MIN_NAME_LENGTH) return `must have at least ${MIN_NAME_LENGTH} characters`
  if (length > MAX_NAME_LENGTH) return `must have at most ${MAX_NAME_LENGTH} characters`
  // Names stand in the headers of mails and in lines of logs.
  if (/\p{Cc}|[\u2028\u2029]/u.test(normalized)) return 'must be one line of text'
  return null
}

/** The first of the names that is accepted, cut where it is too long. */
export function firstUsableName(candidates: (string | null)[], otherwise: string): string {
  const cut = candidates.map((name) => [...normalizeName(name ?? '')].slice(0, MAX_NAME_LENGTH).join('').trim())
  return cut.find((name) => nameProblem(name) === null) ?? otherwise
}
