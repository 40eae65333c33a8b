import type { Problem } from '../shared/service-error.ts'
import { stripDirections, takeCodePoints } from '../shared/text.ts'

/** Code points, after normalization. */
const MIN_NAME_LENGTH = 2
const MAX_NAME_LENGTH = 100

/** Maximal code points before normalization. Composing shortens some scripts to a third. */
export const MAX_NAME_INPUT = 1_000

/** Returns the stored form of a name, without characters that change the direction of the text around it. Cuts it to `MAX_NAME_INPUT`, because composing long runs of marks takes quadratic time. */
export function normalizeName(name: string): string {
  return stripDirections(takeCodePoints(name.trim(), MAX_NAME_INPUT)).normalize('NFC').trim()
}

/** Returns the problems of a request body's `name`. */
export function findNameProblems(name: string): Problem[] {
  const message = findNameProblem(name)
  return message === null
    ? []
    : [{ path: 'name', code: 'NAME_NOT_ALLOWED', message: `The name ${message}. Choose another one.` }]
}

function findNameProblem(name: string): string | null {
  const normalized = normalizeName(name)
  const { length } = [...normalized]
  if (length < MIN_NAME_LENGTH) return `must have at least ${MIN_NAME_LENGTH} characters`
  if (length > MAX_NAME_LENGTH) return `must have at most ${MAX_NAME_LENGTH} characters`
  // Names are used in mail headers and log lines.
  if (/\p{Cc}|[\u2028\u2029]/u.test(normalized)) return 'must be one line of text'
  return null
}

/** Returns the first acceptable name, cut to the maximal length. */
export function pickUsableName(candidates: (string | null)[], otherwise: string): string {
  const cut = candidates.map((name) => takeCodePoints(normalizeName(name ?? ''), MAX_NAME_LENGTH).trim())
  return cut.find((name) => findNameProblem(name) === null) ?? otherwise
}
