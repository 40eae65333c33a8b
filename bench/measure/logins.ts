import { createUser } from '../../src/commands/users/create-user.ts'
import { createContext, type Context } from '../../src/context.ts'
import type { User } from '../../src/domain/users/user.ts'
import { figure, type Aim, type Figure } from '../figure.ts'
import { startChild } from '../processes.ts'
import { median, percentile, rounded, signedRank } from '../stats.ts'
import type { World } from '../world.ts'
import { openTestSession } from '../../tests/support/sessions.ts'

export interface LoginsSize {
  /** Number of pairs of a request for a known and one for an unknown address. */
  pairs: number
  parallel: number
  rounds: number
}

const PASSWORD = 'correct horse battery staple'
/** Standard deviations beyond which a difference is significant at 1%. */
const SIGNIFICANT = 2.58
const WARM_UP = 10
const READERS = 5
const NO_LIMIT = '1000000000'
const UNLIMITED = {
  LOGIN_FAILURES_PER_ACCOUNT: NO_LIMIT,
  LOGIN_FAILURES_PER_ADDRESS: NO_LIMIT,
  LOGIN_FAILURES_BEFORE_DELAY: NO_LIMIT,
  OTP_PER_HOUR: NO_LIMIT,
  RESET_MAILS_PER_HOUR: NO_LIMIT,
  MAILS_PER_SENDER_PER_HOUR: NO_LIMIT,
  // Allows the concurrent logins to come from different addresses.
  TRUSTED_PROXIES: '127.0.0.1',
}

/** Measures what response times reveal to a stranger, and how concurrent logins slow down other users. */
export async function measureLogins(world: World, size: LoginsSize): Promise<Figure[]> {
  const config = await world.config(UNLIMITED)
  const context = await createContext(config)
  await context.database.createSchema()
  const api = await startChild('api', config, { profiling: world.profiling })
  const url = String(api.ready)
  try {
    const known = await makeUser(context, 'known')
    const post = (path: string, body: object) => request(`${url}${path}`, body)
    return [
      await compareAddresses(size, 'login with a wrong password', known.email, (email) =>
        post('/api/auth/login', { email, password: 'a wrong password' }),
      ),
      await compareAddresses(size, 'asking for a one-time code', known.email, (email) =>
        post('/api/auth/request-otp', { email }),
      ),
      await compareAddresses(size, 'asking for a new password', known.email, (email) =>
        post('/api/auth/send-reset-email', { email }),
      ),
      await measureCrowd(size, url, context, known),
    ]
  } finally {
    await api.stop()
    await context.close()
  }
}

function makeUser(context: Context, name: string): Promise<User> {
  const account = { email: `${name}@example.com`, name: 'Bench', password: PASSWORD }
  return createUser(context, { ...account, limits: context.planLimits.free })
}

/** Compares response times in pairs with alternating order, so that a machine that slows down affects both kinds. */
async function compareAddresses(
  { pairs }: LoginsSize,
  name: string,
  knownEmail: string,
  send: (email: string) => Promise<number>,
): Promise<Figure> {
  const times = { known: [] as number[], unknown: [] as number[] }
  const emails = { known: knownEmail, unknown: knownEmail.replace('known', 'other') }
  for (let round = -WARM_UP; round < pairs; round++) {
    const order = round % 2 === 0 ? (['known', 'unknown'] as const) : (['unknown', 'known'] as const)
    for (const kind of order) {
      const startedAt = performance.now()
      await send(emails[kind])
      if (round >= 0) times[kind].push(performance.now() - startedAt)
    }
  }
  const deviations = signedRank(times.unknown.map((time, index) => time - times.known[index]!))
  const isAlike: Aim = {
    text: `no significant difference (under ${SIGNIFICANT} standard deviations)`,
    met: () => Math.abs(deviations) < SIGNIFICANT,
  }
  return figure({
    group: 'logins',
    name: `${name}, unknown against known address, median of ${pairs} pairs`,
    unit: 'ms',
    ours: median(times.unknown),
    baseline: median(times.known),
    aim: isAlike,
    details: { 'signed-rank deviations': rounded(deviations) },
  })
}

/** Measures reads of other users during repeated bursts of concurrent logins. */
async function measureCrowd({ parallel, rounds }: LoginsSize, url: string, context: Context, user: User) {
  const { accessToken } = await openTestSession(context, user)
  const read = async () => {
    const startedAt = performance.now()
    await request(`${url}/api/auth/me`, null, { authorization: `Bearer ${accessToken}` })
    return performance.now() - startedAt
  }
  const readWhile = async (busy: Promise<unknown>) => {
    let isBusy = true
    void busy.finally(() => (isBusy = false)).catch(() => {})
    const samples: number[] = []
    const reader = async () => {
      while (isBusy) samples.push(await read())
    }
    await Promise.all([busy, ...Array.from({ length: READERS }, reader)])
    return samples
  }
  const logIn = (address: number) =>
    request(
      `${url}/api/auth/login`,
      { email: user.email, password: PASSWORD },
      { 'x-forwarded-for': `10.0.0.${address}` },
    )
  const crowd = () => Promise.all(Array.from({ length: parallel }, (_, index) => logIn(index)))

  await crowd()
  const [quiet, crowded, took]: number[][] = [[], [], []]
  for (let round = 0; round < rounds; round++) {
    quiet!.push(...(await readWhile(new Promise((resolve) => setTimeout(resolve, 1_000)))))
    const startedAt = performance.now()
    crowded!.push(...(await readWhile(crowd())))
    took!.push(performance.now() - startedAt)
  }
  return figure({
    group: 'logins',
    name: `reads while ${parallel} people log in concurrently, p95 (baseline: without them)`,
    unit: 'ms',
    ours: percentile(crowded!, 0.95),
    baseline: percentile(quiet!, 0.95),
    details: {
      'the logins took, ms': median(took!),
      'reads p50, ms': rounded(median(crowded!)),
      'reads p50 without, ms': rounded(median(quiet!)),
      'reads a second': rounded((crowded!.length / took!.reduce((sum, ms) => sum + ms, 0)) * 1_000),
    },
  })
}

/** @throws when the status is 429 or a server error */
async function request(url: string, body: object | null, headers: Record<string, string> = {}): Promise<number> {
  const response = await fetch(url, {
    headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  })
  await response.arrayBuffer()
  if (response.status >= 429) throw new Error(`${url} responded with ${response.status}`)
  return response.status
}
