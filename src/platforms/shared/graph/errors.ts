import { Type } from '@sinclair/typebox'
import type { PlatformErrorClass } from '../../../domain/posts/failure.ts'
import type { ConnectReason } from '../../../domain/accounts/platform-connect.ts'
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
    /** For people, in their language. */
    error_user_msg: Type.Optional(Type.Unknown()),
    code: Type.Optional(Type.Number()),
    error_subcode: Type.Optional(Type.Number()),
    is_transient: Type.Optional(Type.Boolean()),
  }),
})
const readError = responseReader(GraphError)

/** What tells an error of the Graph API from that of another server; some token hosts put it in other words. */
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
  /** What comes after the platform's name in the sentence for people. */
  message: string
  /** False where the refusal does not say that nothing was done. */
  certain?: false
  /** Names refusals that the adapter itself acts on. */
  kind?: string
  /** For refusals of a login whose class does not tell users what to do. */
  connectReason?: ConnectReason
  /** Where the answer states no wait of its own, milliseconds. */
  waitMs?: number
}

/** One row of an error table. What it leaves out may be anything. */
export interface GraphRule extends Meaning {
  code?: number | readonly [from: number, to: number]
  subcode?: number
  /** In the error's message, for refusals that nothing else tells apart. */
  text?: RegExp
}

/** A refusal by what of it may be told; `cause` of the PlatformError made of it. */
class GraphRefusal extends Error {
  readonly code: number | undefined
  readonly subcode: number | undefined
  readonly kind: string | undefined
  constructor(status: number, code: number | undefined, subcode: number | undefined, kind: string | undefined) {
    super(`status ${status}, code ${code ?? 'none'}, subcode ${subcode ?? 'none'}`)
    this.name = 'GraphRefusal'
    this.code = code
    this.subcode = subcode
    this.kind = kind
  }
}

/** Calls made while a limit holds make it hold longer (platforms.md 5d). */
const LIMIT_WAIT_MS = 15 * MINUTE
const RATE_LIMITED = { class: 'rate_limited', message: 'asks to slow down', waitMs: LIMIT_WAIT_MS } as const
const NOT_ALLOWED = {
  class: 'permission',
  message: 'was not allowed enough when it was connected: connect it again',
} as const
const TROUBLE = { class: 'transient', message: 'has trouble at the moment' } as const

/** Gone, or not to be seen with this login: the graph makes no difference. */
export const NO_SUCH_OBJECT = 'no-such-object'

/** What every host of the Graph API means by its codes (platforms.md 3g, 5g). A platform's own table comes before it. */
const COMMON: readonly GraphRule[] = [
  { code: 100, subcode: 33, class: 'not_found', message: 'does not know what was asked for', kind: NO_SUCH_OBJECT },
  { code: 190, class: 'unauthorized', message: 'does not accept the login any more' },
  { code: 102, class: 'unauthorized', message: 'does not accept the login any more' },
  { code: 3, ...NOT_ALLOWED },
  { code: 10, ...NOT_ALLOWED },
  { code: [200, 299], ...NOT_ALLOWED },
  { code: 4, ...RATE_LIMITED },
  { code: 17, ...RATE_LIMITED },
  { code: 32, ...RATE_LIMITED },
  { code: 341, ...RATE_LIMITED },
  { code: 613, ...RATE_LIMITED },
  { code: [80_000, 80_999], ...RATE_LIMITED },
  { code: 1, ...TROUBLE, certain: false },
  { code: 2, ...TROUBLE, certain: false },
  { code: 100, class: 'validation', message: 'refused the post as invalid' },
]

/** Only a code of the Graph API says that a login is dead. */
const BY_STATUS: Readonly<Record<number, Meaning>> = {
  401: { class: 'transient', message: 'did not let the request in' },
  403: { class: 'transient', message: 'did not let the request in' },
  404: { class: 'not_found', message: 'does not know what was asked for' },
  408: { class: 'transient', message: 'did not get the request in time', certain: false },
  429: RATE_LIMITED,
}

const RETRIED_CLASSES: readonly PlatformErrorClass[] = [
  'rate_limited',
  'transient',
  'media_not_ready',
  'media_fetch_failed',
]

/** Reads failures by the tables: code and subcode, then code, then `is_transient`, then the status (platforms.md section 8). */
export function createErrorClassifier(label: string, ownRules: readonly GraphRule[]) {
  const rules = [...ownRules, ...COMMON]
  const [exact, byCode] = [true, false].map((is) => rules.filter((rule) => isExact(rule) === is)) as [
    GraphRule[],
    GraphRule[],
  ]

  function classify({ status, text }: HttpResponse) {
    const {
      code,
      error_subcode: subcode,
      is_transient: isTransient,
      message = '',
      error_user_msg: forPeople,
    } = readError(text)?.error ?? {}
    const matches = (rule: GraphRule) =>
      (rule.code === undefined || isWithin(code, rule.code)) &&
      (rule.subcode === undefined || rule.subcode === subcode) &&
      (rule.text === undefined || rule.text.test(message))
    const meaning =
      exact.find(matches) ??
      byCode.find(matches) ??
      (isTransient ? { ...TROUBLE, certain: false } : classifyStatus(status))
    const reason = {
      code: code !== undefined && subcode !== undefined ? `${code}/${subcode}` : code,
      text: typeof forPeople === 'string' && forPeople !== '' ? forPeople : message,
    }
    return { meaning, reason, cause: new GraphRefusal(status, code, subcode, meaning.kind) }
  }

  /**
   * What an answer other than 2xx means. Some refusals come with a 5xx, whose code tells the class; yet whether nothing was done
   * is certain only of a 4xx.
   */
  return function toError(answer: HttpResponse): PlatformError {
    const { meaning, reason, cause } = classify(answer)
    const isRefusal = answer.status >= 400 && answer.status < 500
    const wait = retryAfterMs(answer) ?? toRegainAccessMs(answer) ?? meaning.waitMs
    return new PlatformError(meaning.class, `${label} ${meaning.message}`, {
      certain: isRefusal && meaning.certain !== false,
      ...(RETRIED_CLASSES.includes(meaning.class) && wait !== undefined && { retryAfterMs: wait }),
      ...(meaning.connectReason && { connectReason: meaning.connectReason }),
      reason,
      cause,
    })
  }
}

/** Did the platform refuse for the reason that a row of its table names so? */
export function isRefusedAs(error: unknown, kind: string): error is PlatformError {
  return error instanceof PlatformError && error.cause instanceof GraphRefusal && error.cause.kind === kind
}

export function isErrorClass(error: unknown, errorClass: PlatformErrorClass): error is PlatformError {
  return error instanceof PlatformError && error.class === errorClass
}

/** An account that cannot be found is one that the login may not see any more. */
export async function requireVisibleAccount<T>(label: string, asked: Promise<T>): Promise<T> {
  try {
    return await asked
  } catch (error) {
    if (!isErrorClass(error, 'not_found')) throw error
    const message = `${label} does not show this account any more: connect it again`
    throw new PlatformError('permission', message, { certain: true, cause: error })
  }
}

function isExact({ subcode, text }: GraphRule): boolean {
  return subcode !== undefined || text !== undefined
}

function isWithin(code: number | undefined, wanted: NonNullable<GraphRule['code']>): boolean {
  if (code === undefined) return false
  return typeof wanted === 'number' ? code === wanted : code >= wanted[0] && code <= wanted[1]
}

function classifyStatus(status: number): Meaning {
  if (status >= 500) return TROUBLE
  if (status < 400) return { class: 'transient', message: 'answered in an unexpected way', certain: false }
  return BY_STATUS[status] ?? { class: 'validation', message: 'refused the post as invalid' }
}
