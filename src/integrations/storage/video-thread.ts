import { parentPort } from 'node:worker_threads'
import { CustomSource, EncodedPacketSink, Input, Logging, LogLevel, MP4, QTFF, type InputVideoTrack } from 'mediabunny'
import type { MediaFacts } from '../../domain/posts/media-files.ts'

/** Reads videos for `read-video.ts`, one after the other. An error ends the thread. */

export type ThreadInput = { kind: 'file'; sizeBytes: number } | { kind: 'bytes'; id: number; bytes: Uint8Array }

export type ThreadMessage =
  /** Asks for bytes. */
  | { kind: 'read'; id: number; start: number; end: number }
  | { kind: 'facts'; facts: Partial<MediaFacts> }
  | { kind: 'unusable'; problem: string }

const NO_INDEX =
  'has no index (moov), as after an interrupted recording or export. Export it again and upload that file.'
const ONLY_SOUND = 'has sound but no picture. Upload a video with a picture.'
const CUT_OFF = 'is cut off: it ends before its last picture. Upload the whole file.'

/** Counting more takes longer than a request may wait. */
const MAX_COUNTED_FRAMES = 10_000

Logging.level = LogLevel.Silent
const port = parentPort!
const waiting = new Map<number, (bytes: Uint8Array) => void>()
let asked = 0

port.on('message', (input: ThreadInput) => {
  if (input.kind === 'file') return void inspect(input.sizeBytes).then((result) => port.postMessage(result))
  waiting.get(input.id)?.(input.bytes)
  waiting.delete(input.id)
})

function read(start: number, end: number): Promise<Uint8Array> {
  return new Promise((resolve) => {
    const id = (asked += 1)
    waiting.set(id, resolve)
    port.postMessage({ kind: 'read', id, start, end } satisfies ThreadMessage)
  })
}

async function inspect(sizeBytes: number): Promise<ThreadMessage> {
  const source = new CustomSource({ getSize: () => sizeBytes, read, prefetchProfile: 'fileSystem' })
  const input = new Input({ source, formats: [MP4, QTFF] })
  const tracks = await input.getTracks()
  if (tracks.length === 0) return { kind: 'unusable', problem: NO_INDEX }
  const video = await input.getPrimaryVideoTrack()
  if (!video) return { kind: 'unusable', problem: ONLY_SOUND }
  const duration = await input.getDurationFromMetadata()
  // The index of a fragmented file states no duration and is spread over the file.
  if (duration !== null && (await isCutOff(video))) return { kind: 'unusable', problem: CUT_OFF }
  const [width, height] = [await video.getDisplayWidth(), await video.getDisplayHeight()]
  const pixels = (await video.getCodedWidth()) * (await video.getCodedHeight())
  const frameRate = duration === null ? null : await readFrameRate(video)
  const codec = (await video.getCodec()) ?? String((await video.getInternalCodecId()) ?? 'an unknown codec')
  return {
    kind: 'facts',
    facts: {
      codec,
      ...(duration !== null && { duration }),
      ...(width > 0 && height > 0 && { width, height }),
      ...(pixels > 0 && { pixels }),
      ...(frameRate !== null && { frameRate }),
    },
  }
}

/** Returns the frames a second of the first minutes, on average; null for a video without frames. */
async function readFrameRate(video: InputVideoTrack): Promise<number | null> {
  const { averagePacketRate } = await video.computePacketStats(MAX_COUNTED_FRAMES, { metadataOnly: true })
  return Number.isFinite(averagePacketRate) && averagePacketRate > 0 ? averagePacketRate : null
}

/** The library returns no packet when its bytes are beyond the end of the file. */
async function isCutOff(video: InputVideoTrack): Promise<boolean> {
  const packets = new EncodedPacketSink(video)
  const isIndexed = (await packets.getPacket(Infinity, { metadataOnly: true })) !== null
  return isIndexed && (await packets.getPacket(Infinity)) === null
}
