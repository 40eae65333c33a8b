import { expect, test } from 'vitest'
import { readServerSentEvents, type ServerSentEvent } from '../../../packages/sdk/src/server-sent-events.ts'

const STREAM =
  ': open\n\nid: 7\nevent: post.published\ndata: {"text": "ä€😀"}\n\nid: 9\n\n: alive\n\ndata:one\ndata:  two\r\n\r\nevent\rdata: x\r\rid: 10\ndata: cut'

const EXPECTED: ServerSentEvent[] = [
  { id: '7', event: 'post.published', data: '{"text": "ä€😀"}' },
  { id: '9', event: 'message', data: '' },
  { id: '9', event: 'message', data: 'one\n two' },
  { id: '9', event: '', data: 'x' },
]

async function read(chunks: Uint8Array[]): Promise<ServerSentEvent[]> {
  const found: ServerSentEvent[] = []
  for await (const event of readServerSentEvents(ReadableStream.from(chunks), () => undefined)) found.push(event)
  return found
}

test.each([1, 2, 3, 7, 1_000])('a stream in chunks of %i bytes is read without an unfinished message', async (size) => {
  const bytes = new TextEncoder().encode(STREAM)
  const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, nth) =>
    bytes.slice(nth * size, (nth + 1) * size),
  )
  expect(await read(chunks)).toEqual(EXPECTED)
})
