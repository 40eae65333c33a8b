import { randomUUID } from 'node:crypto'
import type { Clients } from '../commands/parts.ts'
import type { createSealedSecrets } from '../commands/shared/sealed-secrets.ts'
import type { Config } from '../config/schema.ts'
import { toUserAgent } from '../config/user-agent.ts'
import { FOLDERS } from '../domain/media/storage-keys.ts'
import {
  describeSetup,
  findAddressProblem,
  SETUP_PARTS,
  type SetupEntry,
  type SetupPart,
} from '../domain/setup/setup.ts'
import { parseList } from '../domain/shared/lists.ts'
import { trimTrailingSlashes } from '../domain/shared/text.ts'
import { SECOND } from '../domain/shared/times.ts'
import { cacheBriefly } from '../flow/cache-briefly.ts'
import { withDeadline } from '../flow/deadlines.ts'
import { findUnserved } from '../integrations/temporal/health.ts'
import { createHttpClient, HttpFailure, type HttpClient } from '../platforms/shared/http.ts'
import { createPublicServers } from '../platforms/shared/public-servers.ts'

const CACHE_TTL_MS = 10 * SECOND
const CALL_DEADLINE_MS = 4 * SECOND
/** Deadline of each probe, with the loading of its library. All of them run side by side. */
const PROBE_DEADLINE_MS = 8 * SECOND
const EXCERPT_BYTES = 4_096
const NO_TEMPORAL = 'Temporal does not answer'
const REFUSED_KEY = new Set([401, 403])

/** Resolves to null when the part is ready, else to the problem, without a full stop and without secrets. */
type Probe = () => Promise<string | null>

interface SetupReportDeps {
  config: Config
  clock: { now(): Date }
  clients: Pick<Clients, 'orchestrator' | 'storage' | 'mailer' | 'payments' | 'push'>
  sealedSecrets: Pick<ReturnType<typeof createSealedSecrets>, 'findMissingKeys'>
}

interface ProbeClients {
  /** Calls servers of the operator's choice, wherever they are. */
  anywhere: HttpClient
  /** Calls only public https servers, like a stranger on the internet. */
  fromOutside: HttpClient
}

/**
 * Creates the check of every part that an operator sets up. Its result is cached for some seconds, and concurrent callers share one run, so
 * that it calls each server at most once at a time.
 */
export function createSetupReport(deps: SetupReportDeps): () => Promise<SetupEntry[]> {
  return cacheBriefly(
    async () => {
      const clients = createProbeClients(deps.config)
      try {
        const probes = createProbes(deps, clients)
        return await Promise.all(SETUP_PARTS.map((part) => checkPart(part, probes[part])))
      } finally {
        await Promise.all([clients.anywhere.close(), clients.fromOutside.close()])
      }
    },
    CACHE_TTL_MS,
    deps.clock,
  )
}

function createProbeClients(config: Config): ProbeClients {
  const shared = {
    userAgent: toUserAgent(config),
    connections: 2,
    maxResponseBytes: EXCERPT_BYTES,
    readsExcerpts: true,
  }
  const allowedPrivate = parseList(config.ALLOWED_PRIVATE_SERVERS)
  const { guard } = createPublicServers({ configured: [], allowedPrivate })
  return { anywhere: createHttpClient(shared), fromOutside: createHttpClient({ ...shared, guard }) }
}

async function checkPart(part: SetupPart, probe: Probe | 'off' | 'missing'): Promise<SetupEntry> {
  if (typeof probe === 'string') return describeSetup(part, probe)
  const problem = await withDeadline(probe(), PROBE_DEADLINE_MS, () => new Error('late')).catch(
    () => 'The check did not end in time, or failed unexpectedly',
  )
  return problem === null ? describeSetup(part, 'ready') : describeSetup(part, 'failing', problem)
}

/** Creates the probe of each part, or its state where nothing has to be asked. */
function createProbes(
  { config, clients, sealedSecrets }: SetupReportDeps,
  http: ProbeClients,
): Record<SetupPart, Probe | 'off' | 'missing'> {
  const { orchestrator, storage, mailer, payments, push } = clients
  const isProduction = config.NODE_ENV === 'production'
  const platform = (isConfigured: string, url: string) =>
    isConfigured === '' ? 'off' : () => get(http.anywhere, url, { accepts: (status) => status < 500 })
  const { GOOGLE_ISSUER_URL, CAPTIONS_URL, CAPTIONS_API_KEY, FACEBOOK_APP_ID } = config

  return {
    publicUrl: async () => (isProduction ? findAddressProblem(config.PUBLIC_URL) : null),
    frontendUrl: async () => (isProduction ? findAddressProblem(config.FRONTEND_URL) : null),
    temporal: problemUnless(() => orchestrator.ping(), NO_TEMPORAL),
    async worker() {
      const queues = await orchestrator.readQueues(config.WORKER_SILENCE_MS).catch(() => null)
      return queues === null ? NO_TEMPORAL : findUnserved(queues).join('. ') || null
    },
    schedules: () => orchestrator.findSweeperProblem(config.SWEEP_INTERVAL_MS).catch(() => NO_TEMPORAL),
    async encryptionKeys() {
      const missing = await sealedSecrets.findMissingKeys()
      return missing.length === 0 ? null : `Stored secrets need keys that are not configured: ${missing.join(', ')}`
    },
    storage: problemUnless(() => storage.ping(), describeStorageError),
    publicStorage: () => checkPublicStorage(storage, http.fromOutside),
    mail: config.SMTP_URL === '' ? 'missing' : problemUnless(() => mailer.check()),
    bluesky: platform(config.BLUESKY_ENTRY_URL, config.BLUESKY_ENTRY_URL),
    threads: platform(config.THREADS_APP_ID, config.THREADS_GRAPH_URL),
    instagram: platform(FACEBOOK_APP_ID, config.INSTAGRAM_GRAPH_URL),
    facebook: platform(FACEBOOK_APP_ID, config.FACEBOOK_GRAPH_URL),
    mastodon: platform(config.MASTODON_INSTANCE_URL, config.MASTODON_INSTANCE_URL),
    tumblr: platform(config.TUMBLR_CONSUMER_KEY, config.TUMBLR_API_URL),
    google:
      config.GOOGLE_CLIENT_ID === ''
        ? 'off'
        : () =>
            get(http.anywhere, `${trimTrailingSlashes(GOOGLE_ISSUER_URL)}/.well-known/openid-configuration`, {
              accepts: (status) => status === 200,
            }),
    captions:
      CAPTIONS_URL === ''
        ? 'off'
        : () =>
            get(http.anywhere, `${trimTrailingSlashes(CAPTIONS_URL)}/models`, {
              headers: { authorization: `Bearer ${CAPTIONS_API_KEY}` },
              // Not every compatible API lists its models.
              accepts: (status) => status < 500 && !REFUSED_KEY.has(status),
            }),
    payments: payments === null ? 'off' : problemUnless(() => payments.check()),
    push: push === null ? 'off' : problemUnless(() => push.check(), 'The service account got no access token'),
  }
}

/** Stores a small object and reads it at its public address, like platforms that fetch media. */
async function checkPublicStorage(storage: Clients['storage'], http: HttpClient): Promise<string | null> {
  const key = `${FOLDERS.copies}setup/${randomUUID()}.txt`
  const body = randomUUID()
  const signal = AbortSignal.timeout(CALL_DEADLINE_MS)
  try {
    await storage.put({ key, body: new TextEncoder().encode(body), contentType: 'text/plain' }, { signal })
  } catch (error) {
    return describeStorageError(error)
  }
  try {
    return await get(http, storage.publicUrl(key), { accepts: (status, text) => status === 200 && text === body })
  } finally {
    // A copy that stays is removed with all old copies.
    await storage.remove(key, { signal }).catch(() => undefined)
  }
}

function describeStorageError(error: unknown): string {
  const { name = 'Unknown', $metadata } = error as { name?: string; $metadata?: { httpStatusCode?: number } }
  const status = $metadata?.httpStatusCode
  if (status === 404) return 'The storage answers, and the bucket does not exist'
  if (status === 401 || status === 403) return 'The storage refuses the key'
  return status === undefined ? 'The storage does not answer' : `The storage answered ${status} ${name}`
}

interface GetOptions {
  headers?: Record<string, string>
  accepts(status: number, text: string): boolean
}

/** Names the host, never the path, which may have secrets. */
async function get(http: HttpClient, address: string, { headers = {}, accepts }: GetOptions): Promise<string | null> {
  const url = new URL(address)
  try {
    const { status, text } = await http.send({
      ...{ method: 'GET', url, headers, timeoutMs: CALL_DEADLINE_MS },
      signal: AbortSignal.timeout(CALL_DEADLINE_MS),
    })
    if (accepts(status, text)) return null
    return REFUSED_KEY.has(status) ? `${url.host} refuses access (${status})` : `${url.host} answered ${status}`
  } catch (error) {
    if (!(error instanceof HttpFailure)) throw error
    const isPrivate = (error.cause as Error | undefined)?.name === 'NoPublicAddressError'
    return isPrivate ? `${url.host} has no public https address` : `${url.host} ${error.message}`
  }
}

/** @param describe the sentence, or a function of the error; by default the error's own message, which must have no secrets */
function problemUnless(check: () => Promise<void>, describe: string | ((error: unknown) => string) = messageOf): Probe {
  return async () => {
    try {
      await check()
      return null
    } catch (error) {
      return typeof describe === 'string' ? describe : describe(error)
    }
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'Unknown'
}
