import { maskEchoes } from '../../domain/posts/platform-reason.ts'
import { PlatformError } from '../errors.ts'
import { foreignAnswer } from './foreign-answer.ts'
import { HttpFailure, type HttpAnswer, type HttpClient, type HttpRequest } from './http.ts'

/** What differs between the interfaces of platforms. */
interface Dialect {
  /** The platform's name, for sentences that people read. */
  label: string
  /** What an answer other than 2xx means. */
  refusalOf(answer: HttpAnswer): PlatformError
  /** Returns whether an error answer has the platform's own error body; a proxy's page or another server's JSON has not. */
  isOwnError(answer: HttpAnswer): boolean
}

interface Body {
  headers: Record<string, string>
  body: NonNullable<HttpRequest['body']>
}

/** Calls whose answers are read by a schema. Everything that goes wrong comes out as a `PlatformError`. */
export function createCalls(http: HttpClient, { label, refusalOf, isOwnError }: Dialect) {
  return async function send<T>(
    call: HttpRequest,
    read: (text: string) => T | null,
  ): Promise<{ status: number; body: T }> {
    const answer = await http.send(call).catch((error: unknown) => {
      throw error instanceof HttpFailure ? lostCall(label, error) : error
    })
    if (answer.status < 200 || answer.status >= 300) {
      const isOwn = isOwnError(answer)
      // guard: foreign response
      if (!isOwn && isRefusalOfPlatform(answer.status)) throw foreignAnswer(label, answer)
      const refusal = withoutSecrets(refusalOf(answer), call)
      refusal.answered = isOwn || answer.status < 500
      throw refusal
    }
    const body = read(answer.text)
    if (body === null) throw unreadableAnswer(label)
    return { status: answer.status, body }
  }
}

/** Platforms repeat in their answers what was wrong with a call, its token included. */
function withoutSecrets(refusal: PlatformError, call: HttpRequest): PlatformError {
  if (refusal.platformReason) refusal.platformReason = maskEchoes(refusal.platformReason, secretsOf(call))
  return refusal
}

/** Shorter parts of an Authorization header are the names of schemes and parameters. */
const SHORTEST_CREDENTIAL = 12
const SECRET_NAME = /token|secret|password|assertion|code|verifier/i

function secretsOf({ url, headers = {}, body }: HttpRequest): string[] {
  const fields = [...url.searchParams, ...(typeof body === 'string' ? fieldsOf(body) : [])]
  const named = fields.filter(([name]) => SECRET_NAME.test(name)).map(([, value]) => value)
  const credentials = headers['authorization']?.split(/[\s",]+/) ?? []
  return [...credentials.filter((part) => part.length >= SHORTEST_CREDENTIAL), ...named]
}

/** Of a form, or of JSON. */
function fieldsOf(body: string): [string, string][] {
  if (!body.startsWith('{')) return [...new URLSearchParams(body)]
  const fields = Object.entries(JSON.parse(body) as Record<string, unknown>)
  return fields.filter((field): field is [string, string] => typeof field[1] === 'string')
}

/** Statuses that mean the same whoever answers: too slow, too large, too many. */
const ANYBODYS_REFUSALS = [408, 413, 429]

/** Whether a status says something of the request only when the platform itself gave it. */
function isRefusalOfPlatform(status: number): boolean {
  return status >= 400 && status < 500 && !ANYBODYS_REFUSALS.includes(status)
}

/** A call that got no answer to its end. */
function lostCall(label: string, failure: HttpFailure): PlatformError {
  return new PlatformError('transient', `${label} ${failure.message}`, { certain: !failure.sent, cause: failure })
}

/** A 2xx answer that does not say what it should. */
export function unreadableAnswer(label: string): PlatformError {
  return new PlatformError('transient', `${label} answered in an unexpected way`, { certain: false, answered: true })
}

export function form(fields: Record<string, string>): Body {
  const body = new URLSearchParams(fields).toString()
  return { headers: { 'content-type': 'application/x-www-form-urlencoded' }, body }
}

export function json(value: object, headers: Record<string, string> = {}): Body {
  return { headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(value) }
}

/** For calls that answer with nothing of use. */
export const ignoreAnswer = (): true => true
