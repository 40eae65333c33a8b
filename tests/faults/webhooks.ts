import { startReceiver, verifySignature, type Received, type Receiver } from '../support/webhook-receiver.ts'
import type { Send } from './client.ts'
import type { Canary, ReceivedEvent, WebhookEvidence } from './judge/evidence.ts'
import { unique } from './cluster.ts'

/** The receiver refuses one event in so many at its first arrival. */
const REFUSES_EVERY = 4

interface Hook {
  userId: string
  secret: string
  path: string
  received: ReceivedEvent[]
}

/** Starts a receiver of events that refuses some of them once. It verifies each signature when the event arrives. */
export async function openWebhooks() {
  const receiver: Receiver = await startReceiver()
  const hooks: Hook[] = []

  return {
    /** Creates a webhook of a user. It gets the events from now on. */
    async add(userId: string, send: Send): Promise<Canary[]> {
      const path = `/${unique('hook')}`
      const { status, body } = await send('POST', '/api/webhooks', { url: `${receiver.origin}${path}` })
      if (status !== 201) throw new Error(`The webhook was not created: ${status}`)
      const { secret } = (body as { data: { secret: string } }).data
      const hook: Hook = { userId, secret, path, received: [] }
      hooks.push(hook)
      receiver.respond(path, (request, response) => {
        const isFirst = hook.received.every(({ id }) => id !== request.event.id)
        hook.received.push(toReceived(request, secret))
        response.writeHead(isFirst && request.event.sequence % REFUSES_EVERY === 0 ? 503 : 204).end()
      })
      return [
        { name: 'a webhook secret', value: secret },
        { name: 'the path of a webhook', value: path, allowedIn: ['the database'] },
      ]
    },

    evidence: (): WebhookEvidence[] => hooks.map(({ userId, received }) => ({ userId, received })),
  }
}

export type Webhooks = Awaited<ReturnType<typeof openWebhooks>>

function toReceived(request: Received, secret: string): ReceivedEvent {
  const { id, sequence, type } = request.event
  return { id, sequence, type, headerId: String(request.headers['webhook-id']), isSigned: isSigned(request, secret) }
}

function isSigned(request: Received, secret: string): boolean {
  try {
    verifySignature(secret, request)
    return true
  } catch {
    return false
  }
}
