import { createHash, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { join } from 'node:path'
import type { SandboxResponse } from '../proxied-platform.ts'
import { readFilm } from '../shared/film.ts'
import { RefusedCall } from '../shared/refused-call.ts'
import { openTables } from '../shared/tables.ts'
import type { PdsClient } from './pds-client.ts'

/** The prefix of its paths; all others belong to the account's server. */
export const VIDEO_PATHS = '/xrpc/app.bsky.video.'

/** Settings that a test may change at run time. */
export interface VideoKnobs {
  /** How long the processing of a video takes, milliseconds. */
  processingMs: number
  /** The `failureCode` of the next videos, one each. */
  failures: string[]
}

interface Job {
  jobId: string
  did: string
  /** The digest of the uploaded file. */
  digest: string
  begunAt: number
  takesMs: number
  token: string
  /** Set when the outcome is decided, which may be before it is reported. */
  failureCode: string | null
  blob: unknown
}

const LARGEST_BYTES = 300_000_000
const LONGEST_TOKEN_LIFE_S = 3_600
const UPLOAD_BLOB = 'com.atproto.repo.uploadBlob'
const STAGES = ['CREATED', 'ENCODING', 'ENCODED', 'SCANNING', 'SCANNED', 'UPLOADING', 'UPLOADED']
/** The first box of an MP4 file; the simulated encoder produces only that. */
/** The bytes of an upload that are read as a film. */
const MOST_INSPECTED = 33_554_432
const FILM_HEAD = Buffer.from('\0\0\0\x18ftypisom\0\0\x02\0isomiso2', 'latin1')

/**
 * Simulates Bluesky's video service: it converts each video and stores it on the account's server with the token of the
 * upload. That server verifies the token's signature.
 */
export function createVideoService(dir: string, pds: () => PdsClient, knobs: VideoKnobs): Server {
  const jobs = openTables(join(dir, 'video.jsonl'))<Job>('jobs')

  async function upload(request: IncomingMessage, query: URLSearchParams): Promise<SandboxResponse> {
    const did = query.get('did') ?? ''
    const token = /^Bearer (\S+)$/.exec(request.headers.authorization ?? '')?.[1] ?? ''
    const server = (await pds().call('GET', 'com.atproto.server.describeServer', {})) as { did: string }
    assertToken(token, did, server.did)
    if (!query.get('name')) refuse(400, 'InvalidRequest', 'Params must have the property "name"')
    const { 'content-type': type, 'content-length': length } = request.headers
    if (type !== 'video/mp4') refuse(400, 'InvalidRequest', `Wrong request encoding (Content-Type): ${type}`)
    if (length === undefined) refuse(411, 'InvalidRequest', 'Length required')
    if (Number(length) > LARGEST_BYTES) refuse(413, 'PayloadTooLarge', 'The video is too large')
    const { digest, isFilm } = await readUpload(request)
    const known = jobs.values().find((job) => job.did === did && job.digest === digest && job.failureCode === null)
    if (known) {
      const body = { ...(await view(known)), error: 'already_exists', message: 'Video already processed' }
      return { status: 409, body }
    }
    const jobId = randomUUID()
    const job = { jobId, did, digest, token, begunAt: Date.now(), takesMs: knobs.processingMs, blob: null }
    const failureCode = isFilm ? (knobs.failures.shift() ?? null) : 'validation_failure'
    return { status: 200, body: { jobStatus: await view(jobs.set(jobId, { ...job, failureCode })) } }
  }

  /**
   * Returns the current state. The last step, storing on the account's server, runs when the state is first read after
   * it is due.
   */
  async function view(job: Job): Promise<Record<string, unknown>> {
    const { jobId, did, failureCode, begunAt, takesMs, blob } = job
    const stage = Math.floor(((Date.now() - begunAt) / takesMs) * STAGES.length)
    if (stage < STAGES.length) return { jobId, did, state: `JOB_STATE_${STAGES[stage]}`, progress: 50 }
    if (failureCode !== null) {
      return { jobId, did, state: 'JOB_STATE_FAILED', failureCode, error: failureCode, message: 'Video failed' }
    }
    if (blob !== null) return { jobId, did, state: 'JOB_STATE_COMPLETED', blob }
    return view(jobs.set(jobId, { ...job, ...(await store(job)) }))
  }

  async function store({ jobId, digest, token }: Job): Promise<Pick<Job, 'blob' | 'failureCode'>> {
    const bytes = Buffer.concat([FILM_HEAD, boxOf(`${digest} ${jobId}`)])
    const response = await fetch(`${pds().baseUrl}/xrpc/${UPLOAD_BLOB}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'video/mp4' },
      body: bytes,
    })
    if (!response.ok) return { blob: null, failureCode: 'pds_upload_failure' }
    return { blob: ((await response.json()) as { blob: unknown }).blob, failureCode: null }
  }

  async function answerTo(request: IncomingMessage): Promise<SandboxResponse> {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://video')
    const call = `${request.method} ${pathname.replace(VIDEO_PATHS, '')}`
    if (call === 'POST uploadVideo') return upload(request, searchParams)
    if (call !== 'GET getJobStatus') refuse(501, 'MethodNotImplemented', 'Method Not Implemented')
    const job = jobs.get(searchParams.get('jobId') ?? '')
    if (!job) refuse(400, 'InvalidRequest', 'Job not found')
    return { status: 200, body: { jobStatus: await view(job) } }
  }

  return createServer({ requestTimeout: 0 }, (request, response) => {
    const send = ({ status, body }: SandboxResponse) => {
      request.resume()
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(JSON.stringify(body))
    }
    answerTo(request).then(send, (error: unknown) => {
      const failed = { status: 500, body: { error: 'InternalServerError', message: String(error) } }
      send(error instanceof RefusedCall ? error.answer : failed)
    })
  })
}

function refuse(status: number, error: string, message: string): never {
  throw new RefusedCall({ status, body: { error, message } })
}

/** Requires a token for exactly this: no access token, and no token for another method or service. */
function assertToken(token: string, did: string, serverDid: string): void {
  const claims = claimsOf(token)
  const left = (claims.exp ?? 0) - Date.now() / 1_000
  if (claims.iss !== did) refuse(401, 'BadJwt', 'jwt issuer does not match the account')
  if (claims.aud !== serverDid) refuse(401, 'BadJwtAudience', "jwt audience does not match the account's server")
  if (claims.lxm !== UPLOAD_BLOB) refuse(401, 'BadJwtLexiconMethod', `missing jwt lexicon method ("lxm")`)
  if (left <= 0) refuse(401, 'JwtExpired', 'jwt expired')
  if (left > LONGEST_TOKEN_LIFE_S) refuse(401, 'BadJwt', 'jwt expires too far in the future')
}

function claimsOf(token: string): { iss?: string; aud?: string; lxm?: string; exp?: number } {
  try {
    return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as object
  } catch {
    refuse(401, 'BadJwt', 'poorly formatted jwt')
  }
}

/** Reads the upload without buffering a whole long file. */
async function readUpload(request: IncomingMessage): Promise<{ digest: string; isFilm: boolean }> {
  const hash = createHash('sha256')
  const head: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    if (size < MOST_INSPECTED) head.push(chunk)
    size += chunk.length
    hash.update(chunk)
  }
  const film = readFilm(Buffer.concat(head), size)
  return { digest: hash.digest('hex'), isFilm: film !== null && film.pictureCodecs.length > 0 }
}

function boxOf(text: string): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(8 + text.length)
  return Buffer.concat([length, Buffer.from(`free${text}`, 'latin1')])
}
