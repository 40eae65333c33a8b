import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'
import { closeServer, listenOnLoopback } from '../../sandbox/platforms/listen.ts'

/** A request that the provider received. */
export interface CaptionRequest {
  model: string
  messages: { role: string; content: string | { type: string; text?: string; image_url?: { url: string } }[] }[]
  authorization: string | undefined
  userAgent: string | undefined
}

type Reply = (response: ServerResponse) => void

/** Starts a server with OpenAI's chat API that records its requests and sends scripted responses. */
export async function startCaptionProvider() {
  const asked: CaptionRequest[] = []
  let reply: Reply = completion({ content: captionsOf('One', 'Two') })

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = (await json(request)) as CaptionRequest
    if (request.url !== '/v1/chat/completions') return void response.writeHead(404).end()
    const { authorization, 'user-agent': userAgent } = request.headers
    asked.push({ ...body, authorization, userAgent })
    reply(response)
  }

  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy())
  })
  const url = await listenOnLoopback(server)
  return {
    url: `${url}/v1`,
    asked,
    answer: (next: Reply) => void (reply = next),
    stop: () => closeServer(server),
  }
}

export const captionsOf = (...captions: unknown[]) => JSON.stringify({ captions })

/** Builds a chat completion with this message. */
export function completion(message: object, finish = 'stop'): Reply {
  const choices = [{ index: 0, finish_reason: finish, message: { role: 'assistant', ...message } }]
  return sent(200, { id: 'x', object: 'chat.completion', created: 1, model: 'm', choices })
}

export function sent(status: number, body: unknown, headers: Record<string, string> = {}): Reply {
  return (response) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text)
  }
}

/** Takes the request and never answers. */
export const hang: Reply = () => undefined
