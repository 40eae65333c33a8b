import { Webhook } from 'standardwebhooks'
import { EXCERPT_BYTES } from '../../domain/webhooks/deliveries.ts'
import { parseRetryAfter } from '../../domain/shared/retry-after.ts'
import { SECOND } from '../../domain/shared/times.ts'

/** The beginning of a response. */
interface Response {
  status: number
  header(name: string): string | undefined
  text: string
}

/** The HTTP client for receivers that users name. */
export interface ReceiverHttp {
  /** @throws an error whose message completes a sentence about the receiver */
  send(call: {
    method: 'POST'
    url: URL
    headers: Record<string, string>
    body: string
    signal: AbortSignal
    timeoutMs: number
  }): Promise<Response>
  close(): Promise<void>
}

interface SenderOptions {
  http: ReceiverHttp
  /** Returns whether users may name a receiver of this origin. */
  isAllowedOrigin(origin: string): boolean
  /** A receiver that needs longer counts as failed, and the event is sent again. */
  timeoutMs: number
}

interface Message {
  url: string
  /** The same for every attempt, so that receivers recognise repeats. */
  id: string
  body: string
  /** Secrets of the form `whsec_...`. Each signs. */
  secrets: readonly string[]
  sentAt: Date
}

/** The response of a receiver, or why there is none. */
export interface WebhookResult {
  status: number | null
  /** Completes a sentence about the receiver; null with a response. */
  error: string | null
  /** The beginning of the body; null without a response. */
  excerpt: string | null
  /** The wait that the receiver asks for. */
  retryAfterMs: number | undefined
}

/** Sends events to receivers, signed as the specification Standard Webhooks says. */
export function createWebhookSender({ http, isAllowedOrigin, timeoutMs }: SenderOptions) {
  /** Returns whether events may be sent to a URL. Every connection checks the address as well. */
  function isAllowed(text: string): boolean {
    // The parser removes tabs and line ends, so that the stored text would be another address than the one that is called.
    if (/[\s\p{Cc}]/u.test(text) || !URL.canParse(text)) return false
    const { origin, username, password, hash } = new URL(text)
    return username === '' && password === '' && hash === '' && isAllowedOrigin(origin)
  }

  return {
    isAllowed,

    /** @throws the reason of `signal` when it aborts */
    async send({ url, id, body, secrets, sentAt }: Message, signal: AbortSignal): Promise<WebhookResult> {
      if (!isAllowed(url)) return failed('is not at an allowed address')
      const headers = {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(sentAt.getTime() / SECOND)),
        'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(id, sentAt, body)).join(' '),
      }
      try {
        const call = { method: 'POST' as const, url: new URL(url), headers, body, signal, timeoutMs }
        const response = await http.send(call)
        const retryAfterMs = parseRetryAfter(response, sentAt)
        return { status: response.status, error: null, excerpt: toExcerpt(response.text), retryAfterMs }
      } catch (error) {
        signal.throwIfAborted()
        return failed((error as Error).message)
      }
    },

    close: () => http.close(),
  }
}

export type WebhookSender = ReturnType<typeof createWebhookSender>

function failed(error: string): WebhookResult {
  return { status: null, error, excerpt: null, retryAfterMs: undefined }
}

/** Replaces control characters, which terminals would interpret. */
function toExcerpt(text: string): string {
  return text.slice(0, EXCERPT_BYTES).replace(/[^\P{Cc}\n\t]/gu, '\ufffd')
}
