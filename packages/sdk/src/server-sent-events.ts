/** A message of a stream. `id` is the last one that the stream sent. */
export interface ServerSentEvent {
  id: string
  event: string
  data: string
}

/**
 * Reads the format of https://html.spec.whatwg.org/multipage/server-sent-events.html. Unlike there, a message that only has an id is
 * yielded as well, with empty `data`.
 * @param onChunk called whenever something arrives, also for comments
 */
export async function* readServerSentEvents(
  body: ReadableStream<Uint8Array>,
  onChunk: () => void,
): AsyncGenerator<ServerSentEvent, void> {
  const parser = createParser()
  const decoder = new TextDecoder()
  const reader = body.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      onChunk()
      yield* parser.push(decoder.decode(value, { stream: true }))
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

function createParser() {
  let rest = ''
  let id = ''
  let fields: Partial<Record<string, string[]>> = {}

  function* push(text: string): Generator<ServerSentEvent, void> {
    // A carriage return at the end may be half of a line end.
    const lines = (rest + text).split(/\r\n|\n|\r(?!$)/)
    rest = lines.pop() ?? ''
    for (const line of lines) {
      if (line !== '') addLine(line)
      else if (Object.keys(fields).length > 0) yield take()
    }
  }

  function addLine(line: string): void {
    const [, name = '', value = ''] = /^([^:]*):? ?(.*)$/s.exec(line) ?? []
    // A line that begins with a colon is a comment.
    if (name !== '') (fields[name] ??= []).push(value)
  }

  function take(): ServerSentEvent {
    id = fields['id']?.at(-1) ?? id
    const message = { id, event: fields['event']?.at(-1) ?? 'message', data: fields['data']?.join('\n') ?? '' }
    fields = {}
    return message
  }

  return { push }
}
