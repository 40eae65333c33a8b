import { randomUUID } from 'node:crypto'
import type { App } from 'firebase-admin/app'
import type { Message, Messaging } from 'firebase-admin/messaging'
import type { PushMessage } from '../../domain/notifications/push.ts'
import { HOUR, SECOND } from '../../domain/shared/times.ts'
import { createPushAgent } from './push-agent.ts'
import { createServiceAccount } from './service-account.ts'

const CALL_TIMEOUT_MS = 10 * SECOND
const TOKEN_TIMEOUT_MS = 5 * SECOND
const CONNECTIONS = 32
const LONGEST_WAIT_MS = HOUR

export interface PushOptions {
  projectId: string
  clientEmail: string
  privateKey: string
  /** Where messages are taken. */
  url: string
  /** Where the service account gets its access tokens. */
  tokenUrl: string
  userAgent: string
  timeoutMs?: number
}

/**
 * What became of a message to one device. `dead`: no such device any more; `refused`: this message will never be taken; `later`: it may
 * be taken yet, after `waitMs` if the service said so. `isTrouble` tells a service that is down from one that is busy.
 */
export type PushOutcome =
  | { kind: 'sent' }
  | { kind: 'dead'; why: string }
  | { kind: 'refused'; why: string }
  | { kind: 'later'; why: string; waitMs?: number; isTrouble: boolean }

/** Push messages through Firebase Cloud Messaging. The library is loaded when the first one is sent. */
export function createPush(options: PushOptions) {
  const { projectId, url, userAgent, timeoutMs = CALL_TIMEOUT_MS } = options
  const agent = createPushAgent({ url, timeoutMs, connections: CONNECTIONS })
  const account = createServiceAccount({ ...options, timeoutMs: TOKEN_TIMEOUT_MS })
  let opened: Promise<{ messaging: Messaging; close(): Promise<void> }> | undefined

  async function open() {
    const [{ initializeApp, deleteApp }, { getMessaging }] = await Promise.all([
      import('firebase-admin/app'),
      import('firebase-admin/messaging'),
    ])
    const app: App = initializeApp({ projectId, credential: account, httpAgent: agent }, `push-${randomUUID()}`)
    const messaging = getMessaging(app)
    adjustClient(messaging, userAgent)
    return { messaging, close: () => deleteApp(app) }
  }

  return {
    async send(token: string, message: PushMessage, now: Date): Promise<PushOutcome> {
      const { messaging } = await (opened ??= open())
      try {
        await messaging.send(asFirebaseTakesIt(token, message, now))
        return { kind: 'sent' }
      } catch (error) {
        return outcomeOf(error as Failure, now)
      }
    },

    async close(): Promise<void> {
      agent.destroy()
      await (await opened)?.close()
    },
  }
}

export type Push = ReturnType<typeof createPush>

interface LibraryClient {
  retry: object | null
  send(request: { headers?: Record<string, string> }): Promise<unknown>
}

/**
 * Changes two things that the library has no setting for: it retries calls by itself, also those that the service may have taken, and it
 * sends no User-Agent. Tests count the calls and read the header, should the library move its client.
 */
function adjustClient(messaging: Messaging, userAgent: string): void {
  const { httpClient } = (messaging as unknown as { messagingRequestHandler: { httpClient: LibraryClient } })
    .messagingRequestHandler
  const send = httpClient.send.bind(httpClient)
  httpClient.retry = null
  httpClient.send = (request) => send({ ...request, headers: { ...request.headers, 'User-Agent': userAgent } })
}

function asFirebaseTakesIt(token: string, message: PushMessage, now: Date): Message {
  const { title, body, image, data, collapseKey, expiresAt } = message
  const lifeMs = Math.max(0, expiresAt.getTime() - now.getTime())
  return {
    token,
    notification: { title, body, ...(image !== undefined && { imageUrl: image }) },
    data,
    android: { collapseKey, ttl: lifeMs, notification: { tag: collapseKey } },
    apns: {
      headers: {
        'apns-collapse-id': collapseKey,
        'apns-expiration': String(Math.floor(expiresAt.getTime() / SECOND)),
      },
      payload: { aps: {} },
    },
    webpush: {
      headers: { TTL: String(Math.floor(lifeMs / SECOND)) },
      notification: { tag: collapseKey },
      // Firebase takes no other links, and would refuse the whole message.
      ...(data.link.startsWith('https://') && { fcmOptions: { link: data.link } }),
    },
  }
}

interface Failure {
  code?: string
  httpResponse?: { status: number; headers: Record<string, string | string[] | undefined>; data: unknown }
}

/** By what the service wrote: the library's own codes take any 404 for a device that is gone, also that of a wrong project. */
function outcomeOf({ code, httpResponse }: Failure, now: Date): PushOutcome {
  if (!httpResponse) {
    // What the library itself finds wrong with a message, it did not send.
    if (code?.startsWith('messaging/')) return { kind: 'refused', why: code }
    return later(`could not be reached (${code ?? 'unknown'})`, true)
  }
  const { status, headers, data } = httpResponse
  const { errorCode, isAboutToken } = readError(data)
  const why = `answered ${status}${errorCode === null ? '' : ` ${errorCode}`}`
  if (errorCode === 'UNREGISTERED' || (errorCode === 'INVALID_ARGUMENT' && isAboutToken)) return { kind: 'dead', why }
  if (errorCode === 'INVALID_ARGUMENT' || errorCode === 'SENDER_ID_MISMATCH') return { kind: 'refused', why }
  // The rest passes, or an operator can mend it: credentials, a wrong project, an outage, a quota.
  return { ...later(why, status >= 500), ...waitOf([headers['retry-after']].flat()[0], now) }
}

function later(why: string, isTrouble: boolean): PushOutcome & { kind: 'later' } {
  return { kind: 'later', why, isTrouble }
}

/** Seconds, or a date (RFC 9110 section 10.2.3). */
function waitOf(retryAfter: string | undefined, now: Date): { waitMs?: number } {
  if (retryAfter === undefined) return {}
  const waitMs = /^\d+$/.test(retryAfter) ? Number(retryAfter) * SECOND : Date.parse(retryAfter) - now.getTime()
  return waitMs > 0 ? { waitMs: Math.min(waitMs, LONGEST_WAIT_MS) } : {}
}

interface ErrorDetail {
  '@type'?: unknown
  errorCode?: unknown
  fieldViolations?: unknown
}

const KNOWN_CODE = /^[A-Z_]{1,40}$/

function readError(data: unknown): { errorCode: string | null; isAboutToken: boolean } {
  const error = (data as { error?: { details?: unknown; message?: unknown } } | undefined)?.error
  const details = (Array.isArray(error?.details) ? error.details : []) as (ErrorDetail | null)[]
  const code = details.find((detail) => String(detail?.['@type']).endsWith('.FcmError'))?.errorCode
  const fields = details.flatMap((detail) => (detail?.fieldViolations ?? []) as { field?: unknown }[])
  return {
    errorCode: typeof code === 'string' && KNOWN_CODE.test(code) ? code : null,
    isAboutToken:
      fields.some(({ field }) => field === 'message.token') || /registration token/.test(`${error?.message}`),
  }
}
