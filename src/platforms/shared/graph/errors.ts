import { Type } from '@sinclair/typebox'
import type { PlatformErrorClass } from '../../../domain/posts/failure.ts'
import type { ConnectReason } from '../../../domain/accounts/platform-connect.ts'
import { trimFullStop } from '../../../domain/shared/text.ts'
import { MINUTE } from '../../../domain/shared/times.ts'
import { PlatformError } from '../../errors.ts'
import { responseReader } from '../responses.ts'
import type { HttpResponse } from '../http.ts'
import { retryAfterMs } from '../retry-after.ts'
import { toRegainAccessMs } from './usage.ts'

/** https://developers.facebook.com/docs/graph-api/guides/error-handling */
const GraphError = Type.Object({
  error: Type.Object({
    message: Type.Optional(Type.String()),
    /** Localized texts for people. */
    error_user_title: Type.Optional(Type.Unknown()),
    error_user_msg: Type.Optional(Type.Unknown()),
    code: Type.Optional(Type.Number()),
    error_subcode: Type.Optional(Type.Number()),
    is_transient: Type.Optional(Type.Boolean()),
  }),
})
const readError = responseReader(GraphError)

/** Identifies an error of the Graph API. Some token hosts use the second shape. */
const readOwnError = responseReader(
  Type.Union([
    Type.Object({ error: Type.Object({ code: Type.Number(), type: Type.String() }) }),
    Type.Object({ error_type: Type.String(), error_message: Type.String() }),
  ]),
)

export function isGraphError({ text }: HttpResponse): boolean {
  return readOwnError(text) !== null
}

interface Meaning {
  class: PlatformErrorClass
  /** The part of the sentence after the platform's name. */
  message: string
  /** False when the refusal leaves open whether something was done. */
  certain?: false
  /** Identifies refusals that the adapter handles itself. */
  kind?: string
  /** True when the user has to connect the account again. */
  needsReconnection?: true
  /** For refused logins whose class does not say the next step. */
  connectReason?: ConnectReason
  /** The wait when the response states none, milliseconds. */
  waitMs?: number
  /** Whose calls are limited. Absent for limits on something else, such as posts per day. */
  pauses?: 'application' | 'account'
}

/** One row of an error table. Missing fields match anything. */
export interface GraphRule extends Meaning {
  code?: number | readonly [from: number, to: number]
  subcode?: number
  /**
   * A name in the error's message, such as that of a parameter, for refusals without a code of their own. Never words: Meta may write them
   * differently, or in another language.
   */
  name?: string
}

/** The cause of the PlatformError, with the parts of a refusal that may be shown. */
class GraphRefusal extends Error {
  readonly status: number
  readonly code: number | undefined
  readonly subcode: number | undefined
  readonly kind: string | undefined
  constructor(status: number, code: number | undefined, subcode: number | undefined, kind: string | undefined) {
    super(`status ${status}, code ${code ?? 'none'}, subcode ${subcode ?? 'none'}`)
    this.name = 'GraphRefusal'
    this.status = status
    this.code = code
    this.subcode = subcode
    this.kind = kind
  }
}

/** Calls during a rate limit extend the limit. */
const LIMIT_WAIT_MS = 15 * MINUTE
const RATE_LIMITED = {
  class: 'rate_limited',
  message: 'asks to slow down',
  waitMs: LIMIT_WAIT_MS,
  pauses: 'account',
} as const
const NOT_ALLOWED = {
  class: 'permission',
  message: 'did not grant all permissions: connect it again and allow all of them',
  needsReconnection: true,
} as const
const TEMPORARY_PROBLEM = { class: 'transient', message: 'has a temporary problem' } as const

/** The object is deleted, or this login may not see it: the Graph API does not distinguish them. */
export const NO_SUCH_OBJECT = 'no-such-object'

/** Error codes of all hosts of the Graph API. A platform's own table is checked first. */
const COMMON: readonly GraphRule[] = [
  { code: 100, subcode: 33, class: 'not_found', message: 'does not have the requested object', kind: NO_SUCH_OBJECT },
  { code: 190, class: 'unauthorized', message: 'no longer accepts the login' },
  { code: 102, class: 'unauthorized', message: 'no longer accepts the login' },
  { code: 3, ...NOT_ALLOWED },
  { code: 10, ...NOT_ALLOWED },
  { code: [200, 299], ...NOT_ALLOWED },
  { code: 4, ...RATE_LIMITED, pauses: 'application' },
  { code: 17, ...RATE_LIMITED },
  { code: 32, ...RATE_LIMITED },
  { code: 341, ...RATE_LIMITED, pauses: 'application' },
  { code: 613, ...RATE_LIMITED },
  { code: [80_000, 80_999], ...RATE_LIMITED },
  { code: 1, ...TEMPORARY_PROBLEM, certain: false },
  { code: 2, ...TEMPORARY_PROBLEM, certain: false },
  { code: 100, class: 'validation', message: 'refused the post as invalid' },
]

/** Only a code of the Graph API means that a login has ended; a status does not. */
const BY_STATUS: Readonly<Record<number, Meaning>> = {
  401: { class: 'transient', message: 'rejected the request' },
  403: { class: 'transient', message: 'rejected the request' },
  404: { class: 'not_found', message: 'does not have the requested object' },
  408: { class: 'transient', message: 'did not receive the request in time', certain: false },
  429: RATE_LIMITED,
}

const RETRIED_CLASSES: readonly PlatformErrorClass[] = [
  'rate_limited',
  'transient',
  'media_not_ready',
  'media_fetch_failed',
]

/** Returns a function that finds the meaning of a response other than 2xx. */
function createClassify(ownRules: readonly GraphRule[]) {
  const rules = [...ownRules, ...COMMON]
  const [exact, byCode] = [true, false].map((value) => rules.filter((rule) => isExact(rule) === value)) as [
    GraphRule[],
    GraphRule[],
  ]

  return function classify({ status, text }: Pick<HttpResponse, 'status' | 'text'>) {
    const {
      code,
      error_subcode: subcode,
      is_transient: isTransient,
      message = '',
      error_user_title: userTitle,
      error_user_msg: userMessage,
    } = readError(text)?.error ?? {}
    const matches = (rule: GraphRule) =>
      (rule.code === undefined || isWithin(code, rule.code)) &&
      (rule.subcode === undefined || rule.subcode === subcode) &&
      (rule.name === undefined || message.includes(rule.name))
    const meaning: Meaning =
      exact.find(matches) ??
      byCode.find(matches) ??
      (isTransient ? { ...TEMPORARY_PROBLEM, certain: false } : classifyStatus(status))
    const reason = {
      code: code !== undefined && subcode !== undefined ? `${code}/${subcode}` : code,
      text: isText(userMessage) ? userMessage : joinTexts(userTitle, message),
    }
    return { meaning, reason, cause: new GraphRefusal(status, code, subcode, meaning.kind) }
  }
}

const joinTexts = (title: unknown, message: string): string =>
  isText(title) ? [trimFullStop(title), message].filter(isText).join(': ') : message

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''

function toWaitMs(response: Pick<HttpResponse, 'header'>, { waitMs }: Meaning): number | undefined {
  return retryAfterMs(response) ?? toRegainAccessMs(response) ?? waitMs
}

/** Creates a function that returns whose calls a refusal pauses, and for how long; `null` for other responses. */
export function createPauseReader(ownRules: readonly GraphRule[]) {
  const classify = createClassify(ownRules)

  return function readPause(response: Pick<HttpResponse, 'status' | 'header' | 'text'>) {
    if (response.status < 400) return null
    const { meaning } = classify(response)
    return meaning.pauses ? { scope: meaning.pauses, ms: toWaitMs(response, meaning) ?? LIMIT_WAIT_MS } : null
  }
}

/**
 * Classifies failures by code and subcode, then by code, then by `is_transient`, then by status
 * (docs/reference/platforms.md).
 */
export function createErrorClassifier(label: string, ownRules: readonly GraphRule[]) {
  const classify = createClassify(ownRules)

  /**
   * Converts a response other than 2xx. The code of a refusal decides the class even with a 5xx status, but only a 4xx
   * makes it certain that nothing was done.
   */
  return function toError(response: HttpResponse): PlatformError {
    const { meaning, reason, cause } = classify(response)
    const isRefusal = response.status >= 400 && response.status < 500
    const wait = toWaitMs(response, meaning)
    return new PlatformError(meaning.class, `${label} ${meaning.message}`, {
      certain: isRefusal && meaning.certain !== false,
      ...(RETRIED_CLASSES.includes(meaning.class) && wait !== undefined && { retryAfterMs: wait }),
      needsReconnection: meaning.needsReconnection,
      ...(meaning.connectReason && { connectReason: meaning.connectReason }),
      reason,
      cause,
    })
  }
}

/** Returns whether the platform refused for the given kind of reason in its error table. */
export function isRefusedAs(error: unknown, kind: string): error is PlatformError {
  return error instanceof PlatformError && error.cause instanceof GraphRefusal && error.cause.kind === kind
}

export function isErrorClass(error: unknown, errorClass: PlatformErrorClass): error is PlatformError {
  return error instanceof PlatformError && error.class === errorClass
}

/** Returns whether the platform refused with the code that states no reason. With a 5xx it is a temporary problem. */
export function isUnspecified(error: unknown): error is PlatformError {
  const refusal = error instanceof PlatformError ? error.cause : null
  return refusal instanceof GraphRefusal && refusal.code === 1 && refusal.status < 500
}

/** Returns whether the platform says that something does not exist, by a code or by a 404 with any code. */
export function isMissing(error: unknown): error is PlatformError {
  if (!(error instanceof PlatformError)) return false
  return error.class === 'not_found' || (error.cause instanceof GraphRefusal && error.cause.status === 404)
}

/** Returns true only for the platform's own error, because a proxy may send a 404 as well. */
export function isCertainlyMissing(error: unknown): boolean {
  return isRefusedAs(error, NO_SUCH_OBJECT) && error.certain
}

/** Converts a missing account into `permission`: the login may no longer see it. */
export async function requireVisibleAccount<T>(label: string, response: Promise<T>): Promise<T> {
  try {
    return await response
  } catch (error) {
    if (!isErrorClass(error, 'not_found')) throw error
    const message = `${label} no longer shows this account: connect it again`
    throw new PlatformError('permission', message, { certain: true, needsReconnection: true, cause: error })
  }
}

function isExact({ subcode, name }: GraphRule): boolean {
  return subcode !== undefined || name !== undefined
}

function isWithin(code: number | undefined, expected: NonNullable<GraphRule['code']>): boolean {
  if (code === undefined) return false
  return typeof expected === 'number' ? code === expected : code >= expected[0] && code <= expected[1]
}

function classifyStatus(status: number): Meaning {
  if (status >= 500) return TEMPORARY_PROBLEM
  if (status < 400) return { class: 'transient', message: 'sent an unexpected response', certain: false }
  return BY_STATUS[status] ?? { class: 'validation', message: 'refused the post as invalid' }
}
