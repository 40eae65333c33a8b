export interface ReceivedEvent {
  /** The id of the last message with one. */
  id: string
  type: string
  data: unknown
}

/** Opens an event stream. Each message is parsed as it arrives; heartbeats are counted. */
export async function openEventStream(
  url: string,
  headers: Record<string, string>,
): Promise<{ status: number; next(): Promise<ReceivedEvent | null>; close(): void; response: Response }> {
  const closing = new AbortController()
  const response = await fetch(url, { headers: { accept: 'text/event-stream', ...headers }, signal: closing.signal })
  const received = response.ok ? parse(response) : null
  return {
    response,
    status: response.status,
    /** The next event; null when the service has ended the stream. */
    async next() {
      const { value, done } = await received!.next()
      return done ? null : value
    },
    close: () => closing.abort(),
  }
}

/** Reads the format of https://html.spec.whatwg.org/multipage/server-sent-events.html. */
async function* parse(response: Response): AsyncGenerator<ReceivedEvent, void> {
  let buffer = ''
  let id = ''
  const decoder = new TextDecoder()
  for await (const bytes of response.body!) {
    buffer += decoder.decode(bytes as Uint8Array, { stream: true })
    const messages = buffer.split('\n\n')
    buffer = messages.pop()!
    for (const message of messages) {
      const fields = new Map(message.split('\n').map((line) => line.split(/: ?(.*)/s).slice(0, 2) as [string, string]))
      id = fields.get('id') ?? id
      if (fields.has('data')) yield { id, type: fields.get('event')!, data: JSON.parse(fields.get('data')!) }
    }
  }
}
