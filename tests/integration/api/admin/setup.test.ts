import { createServer } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startMailCatcher, type MailCatcher } from '../../../../sandbox/services/mail.ts'
import { startPush, type SandboxPush } from '../../../../sandbox/services/push.ts'
import { closeServer, listenOnLoopback } from '../../../../sandbox/platforms/listen.ts'
import type { Config } from '../../../../src/config/schema.ts'
import type { SetupEntry } from '../../../../src/domain/setup/setup.ts'
import { createContext, type Context } from '../../../../src/context.ts'
import { apiWorld, signIn } from '../../../support/api.ts'
import { connectedUser } from '../../../support/published.ts'
import { testConfig } from '../../../support/servers.ts'

/** Nothing listens on this port. */
const CLOSED = '127.0.0.1:9'
const LOOPBACK = { ALLOWED_PRIVATE_SERVERS: 'http://127.0.0.1:*' }

let catcher: MailCatcher
let receiver: SandboxPush
let url: string
const requests: string[] = []
/** The price and the models exist for the right key only. */
const server = createServer(({ url: path, headers }, response) => {
  requests.push(path!)
  const status = headers.authorization === 'Bearer right-key' ? 200 : 401
  const body = status === 200 ? { id: 'price_pro', object: 'price' } : { error: { message: 'No such key: wrong-key' } }
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
})

beforeAll(async () => {
  ;[catcher, receiver, url] = await Promise.all([startMailCatcher(), startPush(), listenOnLoopback(server)])
})
afterAll(() => Promise.all([catcher?.stop(), receiver?.stop(), closeServer(server)]))

/** Checks the setup of a service with these settings, by part. It needs neither a schema nor a namespace. */
async function setupOf(settings: Partial<Config>, prepare?: (context: Context) => unknown) {
  const context = await createContext(testConfig(settings))
  try {
    await prepare?.(context)
    const entries = await context.reportSetup()
    const secrets = Object.entries(settings).filter(([name]) => /SECRET|KEY/.test(name))
    for (const [, secret] of secrets) expect(JSON.stringify(entries)).not.toContain(secret)
    return byPart(entries)
  } finally {
    await context.close()
  }
}

const byPart = (entries: SetupEntry[]) => Object.fromEntries(entries.map((entry) => [entry.part, entry]))
const withBucket = ({ storage }: Context) => storage.ensureBucket(['http://localhost:3000'])

describe('the setup page of admins', () => {
  it('one shared check finds parts whose servers answer ready, optional parts off, and mail missing without a server', async () => {
    const world = await apiWorld({ ...LOOPBACK, CAPTIONS_URL: url, CAPTIONS_API_KEY: 'right-key' })
    const { headers } = await signIn(world.context, { role: 'admin' })
    const ask = async () => byPart((await world.app.inject({ url: '/api/admin/setup', headers })).json().data)
    requests.length = 0
    // Concurrent and repeated requests share one check.
    const [setup] = await Promise.all([ask(), ask()])
    const again = await ask()
    await world.close()
    expect(again).toEqual(setup)
    expect(requests).toEqual(['/models'])
    const states = (state: string) => Object.values(setup).filter((entry) => entry.state === state)
    const parts = (state: string) => states(state).map(({ part }) => part)
    expect(parts('ready')).toEqual(
      expect.arrayContaining([
        'publicUrl',
        'frontendUrl',
        'temporal',
        'encryptionKeys',
        'storage',
        'publicStorage',
        'bluesky',
        'captions',
      ]),
    )
    expect(parts('off').toSorted()).toEqual([
      'facebook',
      'google',
      'instagram',
      'mastodon',
      'payments',
      'push',
      'threads',
      'tumblr',
    ])
    expect(parts('missing')).toEqual(['mail'])
    expect(setup['mail']!.nextStep).toContain('Set SMTP_URL')
    expect(setup['worker']).toMatchObject({
      state: 'failing',
      problem: expect.stringContaining('No worker polls the task queue publishing for workflows'),
    })
    expect(setup['schedules']).toMatchObject({ state: 'failing', nextStep: 'Run "npm run setup".' })
  })

  it('parts that are configured and work are ready', async () => {
    const setup = await setupOf({
      ...{ SMTP_URL: catcher.smtpUrl, ...receiver.env(), CAPTIONS_URL: url, CAPTIONS_API_KEY: 'right-key' },
      ...{ STRIPE_API_URL: url, STRIPE_SECRET_KEY: 'right-key', STRIPE_PRICE_ID: 'price_pro' },
      ...{ THREADS_APP_ID: 'app', THREADS_APP_SECRET: 'threads-secret', THREADS_GRAPH_URL: url },
    })
    for (const part of ['mail', 'push', 'captions', 'payments', 'threads']) {
      expect(setup[part]).toMatchObject({ part, state: 'ready', problem: null, nextStep: null })
    }
    expect(requests).toEqual(expect.arrayContaining(['/models', '/v1/prices/price_pro']))
  })

  it('servers that cannot be reached and refused keys are failing, with the reason and without the key', async () => {
    const setup = await setupOf({
      ...{ SMTP_URL: `smtp://user:mail-secret@${CLOSED}`, MASTODON_CLIENT_SECRET: 'mastodon-secret' },
      ...{ CAPTIONS_URL: url, CAPTIONS_API_KEY: 'wrong-key', FCM_PROJECT_ID: 'p', FCM_CLIENT_EMAIL: 'a@b.test' },
      ...{ FCM_PRIVATE_KEY: receiver.env().FCM_PRIVATE_KEY, FCM_TOKEN_URL: `http://${CLOSED}/token` },
      ...{ STRIPE_API_URL: url, STRIPE_SECRET_KEY: 'wrong-key', STRIPE_PRICE_ID: 'price_pro' },
      ...{ BLUESKY_ENTRY_URL: `http://${CLOSED}`, MASTODON_INSTANCE_URL: `http://${CLOSED}`, MASTODON_CLIENT_ID: 'm' },
      ...{ GOOGLE_CLIENT_ID: 'g', GOOGLE_ISSUER_URL: `http://${CLOSED}` },
    })
    const problems = Object.fromEntries(Object.values(setup).map(({ part, problem }) => [part, problem]))
    expect(problems).toMatchObject({
      mail: expect.stringMatching(/^The mail server did not accept the login: /),
      captions: expect.stringMatching(/ refuses access \(401\)$/),
      payments: 'Asked to read the price, the processor answered 401',
      bluesky: `${CLOSED} could not be reached`,
      mastodon: `${CLOSED} could not be reached`,
      google: `${CLOSED} could not be reached`,
      push: 'The service account got no access token',
    })
    expect(JSON.stringify(setup)).not.toMatch(/mail-secret|wrong-key/)
  })

  it('Temporal and storage that do not answer are failing, and so is what depends on them', async () => {
    expect(await setupOf({ TEMPORAL_ADDRESS: CLOSED, S3_ENDPOINT: `http://${CLOSED}` })).toMatchObject({
      temporal: { state: 'failing', problem: 'Temporal does not answer' },
      worker: { state: 'failing', problem: 'Temporal does not answer' },
      schedules: { state: 'failing', problem: 'Temporal does not answer' },
      storage: { state: 'failing', problem: 'The storage does not answer' },
      publicStorage: { state: 'failing', problem: 'The storage does not answer' },
    })
  })

  it('a missing bucket is failing', async () => {
    const lost = await setupOf(LOOPBACK)
    expect(lost['storage']).toMatchObject({
      state: 'failing',
      problem: 'The storage answers, and the bucket does not exist',
      nextStep: expect.stringContaining('npm run setup'),
    })
    expect(lost['publicStorage']).toMatchObject({ state: 'failing' })
  })

  it('storage at a private address is not reachable from outside', async () => {
    const { publicStorage, storage } = await setupOf({}, withBucket)
    expect(storage).toMatchObject({ state: 'ready' })
    expect(publicStorage).toMatchObject({
      state: 'failing',
      problem: expect.stringMatching(/ has no public https address$/),
      nextStep: expect.stringContaining('S3_PUBLIC_URL'),
    })
  })

  it('storage whose public address leads to another server is not reachable from outside', async () => {
    const { publicStorage } = await setupOf({ ...LOOPBACK, S3_PUBLIC_URL: url }, withBucket)
    expect(publicStorage).toMatchObject({ state: 'failing', problem: expect.stringContaining('refuses access') })
  })

  it('local addresses of the API and the frontend are failing in production', async () => {
    const setup = await setupOf({ NODE_ENV: 'production', FRONTEND_URL: 'http://app.example.org' })
    expect(setup['publicUrl']).toMatchObject({ state: 'failing', problem: expect.stringContaining('own machine') })
    expect(setup['frontendUrl']).toMatchObject({ state: 'failing', problem: expect.stringContaining('not https') })
  })

  it('an encryption key that stored logins need is named', async () => {
    const { encryptionKeys } = await setupOf({}, async (context) => {
      const { _id: userId } = await connectedUser(context, ['bluesky'])
      const accounts = context.database.connection.collection('accounts')
      await accounts.updateOne({ userId }, { $set: { 'auth.accessToken': 'v1.lost.a.b.c' } })
    })
    expect(encryptionKeys).toMatchObject({ state: 'failing', problem: expect.stringMatching(/: lost$/) })
  })
})
