import { randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import { PDS, envToCfg, envToSecrets } from '@atproto/pds'
import { PlcServer } from '@did-plc/server'
import { readJson, writeJson } from '../json-file.ts'
import { closeServer, listenOnLoopback } from '../listen.ts'
import { openPlcDatabase } from './plc-database.ts'

/**
 * Runs the Bluesky server and its DID directory in a separate thread. Signing commits keeps a thread busy, and the
 * fault proxy must record the arrival of requests without delay.
 */
export interface PdsThreadInput {
  dir: string
  /** The server URL in DID documents: the fault proxy. */
  publicUrl: string
  appViewUrl: string
  appViewDid: string
}

export type Did = `did:${string}:${string}`

/** A message to the thread; each gets a response with the same `id`. */
export interface PdsThreadRequest {
  id: number
  command: 'accessToken' | 'endSessions' | 'stop'
  did: Did
}

export interface PdsThreadResponse {
  id: number
  result?: string
  error?: string
}

export interface PdsThreadReady {
  pdsUrl: string
  directoryUrl: string
}

/** The upload limit of hosted accounts. */
const BLOB_UPLOAD_LIMIT_BYTES = 52_428_800

interface Secrets {
  jwtSecret: string
  adminPassword: string
  plcRotationKeyK256PrivateKeyHex: string
}

const hex = (bytes: number) => randomBytes(bytes).toString('hex')

function openSecrets(path: string): Secrets {
  const made = {
    jwtSecret: hex(32),
    adminPassword: hex(16),
    plcRotationKeyK256PrivateKeyHex: hex(32),
  }
  const secrets = readJson<Secrets>(path, made)
  if (secrets === made) writeJson(path, made)
  return secrets
}

async function startPlc(dir: string): Promise<{ url: string; server: Server }> {
  const plc = PlcServer.create({ db: await openPlcDatabase(join(dir, 'plc')) })
  const server = createServer(plc.app)
  return { url: await listenOnLoopback(server), server }
}

async function startPds({ dir, publicUrl, appViewUrl, appViewDid }: PdsThreadInput, plcUrl: string, secrets: Secrets) {
  const env = {
    ...secrets,
    hostname: 'localhost',
    serviceHandleDomains: ['.test'],
    dataDirectory: join(dir, 'pds'),
    blobstoreDiskLocation: join(dir, 'pds', 'blobs'),
    blobstoreDiskTmpLocation: join(dir, 'pds', 'blobs-temporary'),
    blobUploadLimit: BLOB_UPLOAD_LIMIT_BYTES,
    // The DID resolver accepts no IP addresses.
    didPlcUrl: plcUrl.replace('127.0.0.1', 'localhost'),
    enableDidDocWithSession: true,
    inviteRequired: false,
    rateLimitsEnabled: false,
    bskyAppViewUrl: appViewUrl,
    bskyAppViewDid: appViewDid,
    // Allows plain http URLs, including its own and loopback ones.
    devMode: true,
  }
  mkdirSync(env.dataDirectory, { recursive: true })
  const config = envToCfg(env)
  config.service.publicUrl = publicUrl
  const pds = await PDS.create(config, envToSecrets(env))
  await pds.ctx.sequencer.start()
  // PDS.start() would listen on every interface.
  const server = createServer(pds.app)
  return { url: await listenOnLoopback(server), server, pds }
}

/** Updates the accounts' DID documents after a start on another port. */
async function moveAccounts(pds: PDS, pdsUrl: string, publicUrl: string): Promise<void> {
  let cursor = ''
  do {
    const page = await fetch(`${pdsUrl}/xrpc/com.atproto.sync.listRepos?limit=500&cursor=${encodeURIComponent(cursor)}`)
    const { repos, cursor: next } = (await page.json()) as {
      repos: { did: Did }[]
      cursor?: string
    }
    for (const { did } of repos) await moveAccount(pds, did, publicUrl)
    cursor = next ?? ''
  } while (cursor !== '')
}

async function moveAccount(pds: PDS, did: Did, publicUrl: string): Promise<void> {
  const data = await pds.ctx.plcClient.getDocumentData(did)
  if (data.services['atproto_pds']?.endpoint === publicUrl) return
  await pds.ctx.plcClient.updatePds(did, pds.ctx.plcRotationKey, publicUrl)
  await pds.ctx.idResolver.did.resolve(did, true)
}

/** Operations that only the server's operator can do. */
async function operate({ ctx }: PDS, { command, did }: PdsThreadRequest): Promise<string> {
  if (command === 'accessToken') return (await ctx.accountManager.createSession(did, null)).accessJwt
  await ctx.accountManager.db.db.deleteFrom('refresh_token').where('did', '=', did).execute()
  return ''
}

async function main(input: PdsThreadInput): Promise<void> {
  const port = parentPort!
  const secrets = openSecrets(join(input.dir, 'secrets.json'))
  const plc = await startPlc(input.dir)
  const { url: pdsUrl, server, pds } = await startPds(input, plc.url, secrets)
  await moveAccounts(pds, pdsUrl, input.publicUrl)

  async function stop(): Promise<void> {
    await closeServer(server)
    await pds.destroy()
    await closeServer(plc.server)
    port.close()
  }

  port.on('message', (request: PdsThreadRequest) => {
    if (request.command === 'stop') return void stop()
    operate(pds, request).then(
      (result) => port.postMessage({ id: request.id, result } satisfies PdsThreadResponse),
      (error: unknown) =>
        port.postMessage({
          id: request.id,
          error: String(error),
        } satisfies PdsThreadResponse),
    )
  })
  port.postMessage({ pdsUrl, directoryUrl: plc.url } satisfies PdsThreadReady)
}

await main(workerData as PdsThreadInput)
