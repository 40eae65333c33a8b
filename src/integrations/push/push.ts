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
  /** Address of the FCM API. */
  url: string
  /** Where the service account gets its access tokens. */
  tokenUrl: string
  userAgent: string
  timeoutMs?: number
}

/**
 * The outcome of a message to one device. `dead`: the device no longer exists. `refused`: this message will never be accepted.
 * `later`: it may be accepted after `waitMs`, if the service stated one. `isUnavailable` is true when the service is down, and false when
 * it refuses the call for now or is not set up.
 */
export type PushOutcome =
  | { kind: 'sent' }
  | { kind: 'dead'; why: string }
  | { kind: 'refused'; why: string }
  | { kind: 'later'; why: string; waitMs?: number; isUnavailable: boolean }

/** Sends push messages through Firebase Cloud Messaging. Loads the library with the first message. */
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
        await messaging.send(toFirebaseMessage(token, message, now))
        return { kind: 'sent' }
      } catch (error) {
        return toOutcome(error as Failure, now)
      }
    },

    /**
     * Checks the service account, without sending a message.
     * @throws Error when the token endpoint issues no access token
     */
    async check(): Promise<void> {
      await account.getAccessToken()
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
 * Changes two things for which the library has no setting: it retries calls, also those that the service may have accepted, and
 * it sends no User-Agent. Tests check both, in case the library changes its client.
 */
function adjustClient(messaging: Messaging, userAgent: string): void {
  const { httpClient } = (messaging as unknown as { messagingRequestHandler: { httpClient: LibraryClient } })
    .messagingRequestHandler
  const send = httpClient.send.bind(httpClient)
  httpClient.retry = null
  httpClient.send = (request) => send({ ...request, headers: { ...request.headers, 'User-Agent': userAgent } })
}

function toFirebaseMessage(token: string, message: PushMessage, now: Date): Message {
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
      // Apple's devices show the messages about one record as a group.
      payload: { aps: { threadId: data.referenceId } },
    },
    webpush: {
      headers: { TTL: String(Math.floor(lifeMs / SECOND)) },
      notification: { tag: collapseKey },
      // Firebase accepts only https links and would refuse the whole message.
      ...(data.link.startsWith('https://') && { fcmOptions: { link: data.link } }),
    },
  }
}

interface Failure {
  code?: string
  httpResponse?: { status: number; headers: Record<string, string | string[] | undefined>; data: unknown }
}

/** Decides by the service's response: the library's own codes treat any 404 as a dead device, also that of a wrong project. */
function toOutcome({ code, httpResponse }: Failure, now: Date): PushOutcome {
  if (!httpResponse) {
    // The library rejected the message and did not send it.
    if (code?.startsWith('messaging/')) return { kind: 'refused', why: code }
    return later(`could not be reached (${code ?? 'unknown'})`, true)
  }
  const { status, headers, data } = httpResponse
  const { errorCode, isAboutToken } = readError(data)
  const why = `answered ${status}${errorCode === null ? '' : ` ${errorCode}`}`
  if (errorCode === 'UNREGISTERED' || (errorCode === 'INVALID_ARGUMENT' && isAboutToken)) return { kind: 'dead', why }
  if (errorCode === 'INVALID_ARGUMENT' || errorCode === 'SENDER_ID_MISMATCH') return { kind: 'refused', why }
  // Other errors are temporary or an operator can fix them: credentials, a wrong project, an outage, a quota.
  return { ...later(why, status >= 500), ...parseRetryAfter([headers['retry-after']].flat()[0], now) }
}

function later(why: string, isUnavailable: boolean): PushOutcome & { kind: 'later' } {
  return { kind: 'later', why, isUnavailable }
}

/** Parses seconds or a date (RFC 9110 section 10.2.3). */
function parseRetryAfter(retryAfter: string | undefined, now: Date): { waitMs?: number } {
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
