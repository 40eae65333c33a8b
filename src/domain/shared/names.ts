import type { Problem } from './service-error.ts'
import { stripDirections, takeCodePoints } from './text.ts'

/** Code points, after normalization. */
interface NameLength {
  min: number
  max: number
}

const PERSON_NAME_LENGTH: NameLength = { min: 2, max: 100 }

/** Maximal code points before normalization. Composing shortens some scripts to a third. */
export const MAX_NAME_INPUT = 1_000

/** Returns the stored form of a name, without characters that change the direction of the text around it. Cuts it to `MAX_NAME_INPUT`, because composing long runs of marks takes quadratic time. */
export function normalizeName(name: string): string {
  return stripDirections(takeCodePoints(name.trim(), MAX_NAME_INPUT)).normalize('NFC').trim()
}

/** Returns the problems of a request body's `name`. The length is by default that of a person's name. */
export function findNameProblems(name: string, length = PERSON_NAME_LENGTH): Problem[] {
  const message = findNameProblem(name, length)
  return message === null
    ? []
    : [{ path: 'name', code: 'NAME_NOT_ALLOWED', message: `The name ${message}. Choose another one.` }]
}

function findNameProblem(name: string, { min, max }: NameLength): string | null {
  const normalized = normalizeName(name)
  const { length } = [...normalized]
  if (length < min) return `must have at least ${min === 1 ? 'one character' : `${min} characters`}`
  if (length > max) return `must have at most ${max} characters`
  // Names are used in mail headers and log lines.
  if (/\p{Cc}|[\u2028\u2029]/u.test(normalized)) return 'must be one line of text'
  return null
}

/** Returns the first acceptable name of a person, cut to the maximal length. */
export function pickUsableName(candidates: (string | null)[], otherwise: string): string {
  const cut = candidates.map((name) => takeCodePoints(normalizeName(name ?? ''), PERSON_NAME_LENGTH.max).trim())
  return cut.find((name) => findNameProblem(name, PERSON_NAME_LENGTH) === null) ?? otherwise
}
