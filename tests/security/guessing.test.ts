import { PassThrough } from 'node:stream'
import type { LightMyRequestResponse } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildApp } from '../../src/api/app.ts'
import { systemClock, type Clock } from '../../src/clock.ts'
import { MINUTE, SECOND } from '../../src/domain/shared/times.ts'
import { createLogger } from '../../src/logger.ts'
import { apiWorld, createAccount, PASSWORD, signIn, type ApiWorld } from '../support/api.ts'
import { unique } from '../support/servers.ts'

let world: ApiWorld
const begin = Date.now()
/** Milliseconds since the start of the file, changed by `later`: the clock is otherwise fixed, so that no delay ends by itself. */
let shiftMs = 0
const clock: Clock = {
  now: () => new Date(begin + shiftMs),
  sleepUntil(instant, signal) {
    const ms = instant.getTime() - clock.now().getTime()
    return systemClock.sleepUntil(new Date(Date.now() + ms), signal)
  },
}
const log = new PassThrough()
const lines: Record<string, unknown>[] = []
log.on('data', (line: Buffer) => lines.push(JSON.parse(line.toString()) as Record<string, unknown>))

beforeAll(async () => {
  world = await apiWorld({}, { clock, logger: createLogger('info', log) })
})
afterAll(() => world?.close())

let networks = 0
/** Returns an IPv4 address that no other test uses. */
const newNetwork = () => `100.64.${(networks += 1) >> 8}.${networks & 255}`

interface Sender {
  from?: string
  cookies?: Record<string, string>
  path?: string
}

function logIn(email: string, password: string, { from = newNetwork(), cookies = {}, path = 'login' }: Sender = {}) {
  const payload = { email, password }
  return world.app.inject({ method: 'POST', url: `/api/auth/${path}`, payload, remoteAddress: from, cookies })
}

const statuses = (answers: LightMyRequestResponse[]) => answers.map(({ statusCode }) => statusCode)
const count = (answers: LightMyRequestResponse[], status: number) =>
  answers.filter(({ statusCode }) => statusCode === status).length
const retryAfter = ({ headers }: LightMyRequestResponse) => Number(headers['retry-after'])
const times = <T>(length: number, act: (index: number) => T) => Array.from({ length }, (_, index) => act(index))
const newAccount = () => createAccount(world.context, { withPassword: true })

async function inOrder(length: number, act: (index: number) => Promise<LightMyRequestResponse>) {
  const answers: LightMyRequestResponse[] = []
  for (let index = 0; index < length; index += 1) answers.push(await act(index))
  return answers
}

async function later<T>(ms: number, act: () => Promise<T>): Promise<T> {
  shiftMs += ms
  try {
    return await act()
  } finally {
    shiftMs -= ms
  }
}

/** The cookie that a browser stores after a login and sends only to the auth routes. */
function deviceCookie(response: LightMyRequestResponse): Record<string, string> {
  const { name, value, ...attributes } = response.cookies.find((cookie) => cookie.name === 'knownDevice')!
  expect(attributes).toMatchObject({ path: '/api/auth', httpOnly: true, sameSite: 'Lax' })
  return { [name]: value }
}

/** Increases the delay of an account with guesses from separate networks. */
async function attack(email: string): Promise<void> {
  const answers = await Promise.all(times(30, () => logIn(email, 'a wrong guess')))
  expect(count(answers, 429)).toBeGreaterThan(15)
}

describe('guessing passwords', () => {
  it('guesses from an IPv6 /64 are limited like guesses from a single address', async () => {
    const { email } = await newAccount()
    const answers = await inOrder(40, (index) =>
      logIn(email, 'a wrong guess', { from: `2001:db8:7:1:${index.toString(16)}::${index.toString(16)}` }),
    )
    expect(count(answers, 401)).toBe(10)
    expect(statuses(answers).slice(10)).toEqual(times(30, () => 429))
  })

  it('a client behind a trusted proxy counts once, however the proxy writes its address', async () => {
    const { email } = await newAccount()
    const app = await buildApp({ ...world.context, config: { ...world.context.config, TRUSTED_PROXIES: '127.0.0.1' } })
    const forms = ['198.51.100.9', '198.51.100.9:4711', '::ffff:198.51.100.9', '[::FFFF:c633:6409]:80']
    const answers = await inOrder(20, (index) =>
      app.inject({
        method: 'POST',
        url: '/api/auth/login',
        payload: { email, password: 'a wrong guess' },
        headers: { 'x-forwarded-for': forms[index % forms.length]! },
      }),
    )
    await app.close()
    expect([count(answers, 401), count(answers, 429)]).toEqual([10, 10])
  })

  it.each(['login', 'admin-login'])(
    'concurrent guesses from many networks get 11 tries on an account by %s',
    async (path) => {
      const { email } = await newAccount()
      const answers = await Promise.all(times(40, () => logIn(email, 'a wrong guess', { path })))
      expect([count(answers, 401), count(answers, 429)]).toEqual([11, 29])
    },
  )

  it('repeated guesses from many networks get growing delays', async () => {
    const { email } = await newAccount()
    await attack(email)
    const waits: number[] = []
    let passedMs = 0
    while (waits.length < 6) {
      const refused = await later(passedMs, () => logIn(email, 'a wrong guess'))
      expect(refused.statusCode).toBe(429)
      expect(refused.json()).toMatchObject({ code: 'RATE_LIMITED', bucket: 'login' })
      expect(refused.json().message).toMatch(
        /^Too many failed logins\. Try again in \d+ (second|minute)s?, or reset your password\.$/,
      )
      waits.push(retryAfter(refused))
      passedMs += retryAfter(refused) * SECOND
      expect((await later(passedMs, () => logIn(email, 'a wrong guess'))).statusCode).toBe(401)
    }
    expect(waits.at(-1)!).toBeGreaterThan(8 * waits[1]!)
  })

  it('an address without an account gets the same responses as one with an account', async () => {
    const known = (await newAccount()).email
    const unknown = `${unique('nobody')}@example.test`
    const answers = await Promise.all([known, unknown].map((email) => inOrder(14, () => logIn(email, 'a wrong guess'))))
    expect(statuses(answers[0]!)).toEqual(statuses(answers[1]!))
    const bodies = answers.map((each) => each.map((answer) => ({ ...answer.json(), requestId: '' })))
    expect(bodies[0]!.slice(0, 11)).toEqual(bodies[1]!.slice(0, 11))
    const names = answers.map((each) => each.map(({ headers }) => Object.keys(headers).toSorted()))
    expect(names[0]).toEqual(names[1])
  })

  it('guesses of the current password by a stolen session are limited, and the owner can still log in', async () => {
    const { passwordHash } = await newAccount()
    const thief = await signIn(world.context, { passwordHash })
    const guess = () =>
      world.app.inject({
        method: 'PATCH',
        url: '/api/profile/change-password',
        payload: { currentPassword: 'a wrong guess', newPassword: 'another horse, another staple' },
        headers: thief.headers,
        remoteAddress: newNetwork(),
      })
    const answers = await inOrder(20, guess)
    expect([count(answers, 400), count(answers, 429)]).toEqual([10, 10])
    expect((await logIn(thief.user.email, PASSWORD)).statusCode).toBe(200)
  })
})

describe('logins while others guess the password of an account', () => {
  it('a browser with an earlier login can log in immediately from any network', async () => {
    const { email } = await newAccount()
    const cookies = deviceCookie(await logIn(email, PASSWORD))
    await attack(email)
    expect((await logIn(email, PASSWORD, { cookies })).statusCode).toBe(200)
    expect((await logIn(email, PASSWORD)).statusCode).toBe(429)
  })

  it('a browser with an earlier login can log in although others used up the limit of its network', async () => {
    const { email } = await newAccount()
    const from = newNetwork()
    const cookies = deviceCookie(await logIn(email, PASSWORD, { from }))
    const others = await inOrder(51, (index) => logIn(`${unique(`other${index}`)}@example.test`, 'wrong', { from }))
    expect(others.at(-1)!.statusCode).toBe(429)
    expect((await logIn(email, PASSWORD, { from, cookies })).statusCode).toBe(200)
  })

  it('a client without cookies can log in from the network of its session', async () => {
    const { email } = await newAccount()
    expect((await logIn(email, PASSWORD, { from: '2001:db8:8:1::a' })).statusCode).toBe(200)
    await attack(email)
    expect((await logIn(email, PASSWORD, { from: '2001:db8:8:1::b' })).statusCode).toBe(200)
    expect((await logIn(email, PASSWORD, { from: '2001:db8:8:2::a' })).statusCode).toBe(429)
  })

  it('an unknown device can log in when the delay is over', async () => {
    const { email } = await newAccount()
    await attack(email)
    const refused = await logIn(email, PASSWORD)
    const accepted = await later(retryAfter(refused) * SECOND, () => logIn(email, PASSWORD))
    expect([refused.statusCode, accepted.statusCode]).toEqual([429, 200])
  })

  it('a cookie of another account or a forged cookie does not help', async () => {
    const { email } = await newAccount()
    const own = deviceCookie(await logIn(email, PASSWORD)).knownDevice!
    const other = deviceCookie(await logIn((await newAccount()).email, PASSWORD)).knownDevice!
    await attack(email)
    const [id, issuedAt, mac] = own.split('.')
    const forged = [
      other,
      `${id}.${Number(issuedAt) + 1}.${mac}`,
      `${id}.${issuedAt}.${'A'.repeat(43)}`,
      '~~',
      'x'.repeat(3_000),
    ]
    for (const knownDevice of forged) {
      expect((await logIn(email, PASSWORD, { cookies: { knownDevice } })).statusCode).toBe(429)
    }
    expect((await logIn(email, PASSWORD, { cookies: { knownDevice: `${other}~${own}` } })).statusCode).toBe(200)
  })

  it('a known device has its own limited number of guesses, which a login does not reset', async () => {
    const { email } = await newAccount()
    let cookies = deviceCookie(await logIn(email, PASSWORD))
    const answers = await inOrder(10, () => logIn(email, 'a wrong guess', { cookies }))
    expect(count(answers, 401)).toBe(10)
    const refused = await logIn(email, PASSWORD, { cookies })
    expect([refused.statusCode, retryAfter(refused) > 14 * 60]).toEqual([429, true])
    cookies = deviceCookie(await logIn(email, PASSWORD))
    expect((await logIn(email, PASSWORD, { cookies })).statusCode).toBe(200)
  })
})

it('a forwarded address from an untrusted peer is logged once per process', async () => {
  const app = await buildApp({ ...world.context, config: { ...world.context.config, TRUSTED_PROXIES: '192.0.2.1' } })
  const first = lines.length
  const warnings = () => lines.slice(first).filter(({ msg }) => String(msg).startsWith('forwarded address ignored'))
  const send = (remoteAddress: string) =>
    app.inject({ url: '/health/live', remoteAddress, headers: { 'x-forwarded-for': '203.0.113.9' } })
  await send('192.0.2.1')
  expect(warnings()).toEqual([])
  await send('192.0.2.2')
  await send('192.0.2.3')
  expect(warnings()).toMatchObject([{ level: 'warn', peer: '192.0.2.2' }])
  await app.close()
})

describe('a failed login', () => {
  const eventsOf = (from: number, msg: string) => lines.slice(from).filter((line) => line['msg'] === msg)

  it('a failed login is logged without email address or client address', async () => {
    const { email } = await newAccount()
    const from = newNetwork()
    const begin = lines.length
    await logIn(email, 'a wrong guess', { from })
    await logIn(email.toUpperCase(), 'a wrong guess', { from })
    await logIn(`${unique('nobody')}@example.test`, 'a wrong guess', { from })
    const events = eventsOf(begin, 'login failed')
    expect(events.map(({ reason }) => reason)).toEqual(['wrong_password', 'wrong_password', 'unknown_address'])
    expect(events[0]!['account']).toBe(events[1]!['account'])
    expect(events[0]!['account']).not.toBe(events[2]!['account'])
    expect(new Set(events.map(({ network }) => network)).size).toBe(1)
    const text = JSON.stringify(events)
    for (const secret of [email, email.split('@')[0]!, from]) expect(text).not.toContain(secret)
  })

  it('a failed login that reaches a limit or starts a delay is logged with the wait', async () => {
    const { email } = await newAccount()
    const from = newNetwork()
    const begin = lines.length
    await inOrder(11, () => logIn(email, 'a wrong guess', { from }))
    await later(MINUTE, () => logIn(email, 'a wrong guess'))
    const limits = eventsOf(begin, 'logins throttled')
    expect(limits).toMatchObject([
      { limit: 'account-address', level: 'warn' },
      { limit: 'account', level: 'warn', waitSeconds: 1 },
    ])
    expect(eventsOf(begin, 'login failed').map(({ reason }) => reason)).toContain('throttled')
  })

  it('a failed login counts in the metrics by its reason', async () => {
    const { metrics } = world.context
    const figure = async (labels: string) =>
      Number(new RegExp(`^postonce_login_${labels} (\\d+)$`, 'm').exec(await metrics.text())?.[1])
    const names = [
      'failures_total{reason="wrong_password"}',
      'failures_total{reason="throttled"}',
      'limits_total{limit="account-address"}',
    ]
    const escaped = names.map((name) => name.replaceAll(/[{}]/g, String.raw`\$&`))
    const before = await Promise.all(escaped.map(figure))
    const { email } = await newAccount()
    const from = newNetwork()
    await inOrder(12, () => logIn(email, 'a wrong guess', { from }))
    const after = await Promise.all(escaped.map(figure))
    expect(after.map((value, index) => value - before[index]!)).toEqual([10, 2, 1])
  })
})
