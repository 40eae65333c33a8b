import type { ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { gzipSync } from 'node:zlib'

const FLOOD_BYTES = 1_073_741_824
const PIECE = Buffer.alloc(64 * 1_024, 0x20)

/** Sends far more than any client should accept, as fast as it reads. */
export async function flood(response: ServerResponse, kind: 'body' | 'gzip' | 'headers'): Promise<void> {
  const json = { 'content-type': 'application/json' }
  if (kind === 'headers') {
    // Bypasses Node's own writer, which would buffer all of it first.
    const socket = response.socket!
    socket.write('HTTP/1.1 200 OK\r\n')
    return pipeline(headers, socket)
  }
  if (kind === 'body') {
    response.writeHead(200, json)
    return pipeline(pieces, response)
  }
  response.writeHead(200, { ...json, 'content-encoding': 'gzip' })
  return pipeline(compressedPieces, response)
}

function* pieces(): Generator<Buffer> {
  for (let sent = 0; sent < FLOOD_BYTES; sent += PIECE.length) yield PIECE
}

/** Each piece is a complete gzip member of 16 MiB; members may be concatenated (RFC 1952 section 2.2). */
function* compressedPieces(): Generator<Buffer> {
  const member = gzipSync(Buffer.alloc(16 * 1_048_576, 0x20))
  for (let unfolded = 0; unfolded < FLOOD_BYTES; unfolded += 16 * 1_048_576) yield member
}

function* headers(): Generator<string> {
  for (let sent = 0; sent < FLOOD_BYTES; sent += 1_024) yield `x-${sent}: ${'x'.repeat(1_000)}\r\n`
}
