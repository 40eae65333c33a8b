import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest'
import { freePort } from '../../../sandbox/servers/process.ts'
import { openSecrets, sealSecrets } from '../../../src/commands/accounts/account-secrets.ts'
import { createServerApplications } from '../../../src/commands/accounts/server-applications.ts'
import { openMail, sealMail } from '../../../src/commands/notifications/mail-secrets.ts'
import { openPushToken, registerPushDevice } from '../../../src/commands/notifications/push-devices.ts'
import { openAttemptSecrets, sealAttemptSecrets } from '../../../src/commands/shared/attempt-secrets.ts'
import { createSealedSecrets, rewrapSecrets } from '../../../src/commands/shared/sealed-secrets.ts'
import { createWebhookSecret, openWebhookSecrets } from '../../../src/commands/webhooks/webhook-secrets.ts'
import type { Context } from '../../../src/context.ts'
import type { Credentials } from '../../../src/platforms/contract.ts'
import { connectAttemptSecret, identityAttemptSecret, SEALED_FIELDS } from '../../../src/domain/shared/secrets.ts'
import { HEALTHY, type Webhook } from '../../../src/domain/webhooks/webhooks.ts'
import { createTokenCipher, type TokenCipher } from '../../../src/security/token-cipher.ts'
import { newId } from '../../../src/store/shared/schema.ts'
import { startMetricsServer } from '../../../src/telemetry/metrics-server.ts'
import { createMetrics } from '../../../src/telemetry/metrics.ts'
import { runAdmin } from '../../support/admin-command.ts'
import { CONNECT_OPTIONS } from '../../support/published.ts'
import { testContext } from '../../support/servers.ts'
import { recordsByCollection } from '../../support/traces.ts'

const newKey = (id: string) => `${id}:${randomBytes(32).toString('base64')}`
const [oldKey, newerKey] = [newKey('2025'), newKey('2026')]
const oldCipher = createTokenCipher(oldKey)
const bothKeys = { TOKEN_ENCRYPTION_KEYS: `${newerKey},${oldKey}` }

let context: Context
beforeAll(async () => {
  context = await testContext({ TOKEN_ENCRYPTION_KEYS: oldKey })
})
afterAll(() => context.close())

const later = new Date(Date.now() + 3_600_000)
const tokens = { accessToken: 'access', tokenSecret: 'secret', refreshToken: 'refresh' }
const profile = { displayName: 'Ann', handle: 'ann', avatar: null }

async function connect(userId: string) {
  const seal = (version: number) => ({
    platformId: newId(),
    handle: 'ann',
    server: null,
    profile,
    auth: sealSecrets(oldCipher, { userId, platform: 'tumblr', version }, { ...tokens } as Credentials),
  })
  const { accounts } = await context.accounts.connect(userId, { platform: 'tumblr', seal }, CONNECT_OPTIONS)
  return accounts[0]!
}

/** Stores a secret in each place, more mails than fit in one batch. Returns how to read them all with other keys. */
async function storeSecrets(cipher: TokenCipher) {
  const { connection } = context.database
  const userId = newId()
  await connect(userId)

  const attempt = { _id: newId(), userId, platform: 'mastodon' as const }
  const sealAttempt = (name: string) => sealAttemptSecrets(cipher, connectAttemptSecret(attempt), { name })
  const open = { bindingHash: null, expiresAt: later, consumedAt: null }
  const connectAttempt = { ...attempt, ...open, sessionId: newId(), secrets: sealAttempt('verifier') }
  await context.connectAttempts.insert(connectAttempt)
  await context.connectAttempts.saveOffer(connectAttempt, sealAttempt('offer'), later)
  const login = newId()
  const secrets = sealAttemptSecrets(cipher, identityAttemptSecret({ _id: login }), { nonce: 'nonce' })
  await context.identityAttempts.insert({ _id: login, ...open, secrets })

  const mailIds = Array.from({ length: 450 }, newId)
  const mails = connection.collection<{ _id: string; sealed: string }>('mails')
  const words = { to: 'ann@example.test', subject: 'Code', text: '123456', html: '<p>123456</p>' }
  await mails.insertMany(mailIds.map((_id) => ({ _id, sealed: sealMail(cipher, _id, words) })))

  await registerPushDevice({ ...context, cipher }, { userId, token: 'device', platform: 'web' })
  const applications = (with_: TokenCipher) =>
    createServerApplications({ store: context.serverApplications, cipher: with_ })
  const application = { clientId: 'id', clientSecret: 'app secret', redirectUri: 'https://example.test' }
  await applications(cipher).add('mastodon https://example.test', application)

  const webhookId = newId()
  const [current, before] = [createWebhookSecret(cipher, webhookId), createWebhookSecret(cipher, webhookId)]
  const hook = { _id: webhookId, userId, url: 'https://example.test', description: '', events: [], isEnabled: true }
  const oldSecret = { sealed: before.sealed, validUntil: later }
  const state = { disabled: null, cursor: 0, health: HEALTHY, revision: 0, wakeAt: null, createdAt: new Date() }
  const webhooks = connection.collection<Webhook>('webhooks')
  await webhooks.insertOne({ ...hook, ...state, sealedSecret: current.sealed, oldSecret })

  return async function readAll(with_: TokenCipher): Promise<void> {
    const [connected] = await context.accounts.listConnected(userId)
    expect(openSecrets(with_, connected!)).toMatchObject(tokens)
    const stored = (await context.connectAttempts.findOffer(userId, attempt._id, new Date()))!
    expect(openAttemptSecrets(with_, connectAttemptSecret(stored), stored.secrets!)).toEqual({ name: 'verifier' })
    expect(openAttemptSecrets(with_, connectAttemptSecret(stored), stored.offer!)).toEqual({ name: 'offer' })
    const consumed = (await context.identityAttempts.consume({ _id: login }, [null], new Date()))!
    expect(openAttemptSecrets(with_, identityAttemptSecret(consumed), consumed.secrets!)).toEqual({ nonce: 'nonce' })
    for await (const { _id, sealed } of mails.find({ _id: { $in: mailIds } })) {
      expect(openMail(with_, _id, sealed)).toEqual(words)
    }
    const [device] = await context.pushTokens.listOf(userId)
    expect(openPushToken({ ...context, cipher: with_ }, device!)).toBe('device')
    expect(await applications(with_).find('mastodon https://example.test')).toEqual(application)
    const webhook = (await context.webhooks.find(userId, webhookId))!
    expect(openWebhookSecrets(with_, webhook, new Date())).toEqual([current.secret, before.secret])
  }
}

/** Finds every text in the database that has the form of a sealed secret. */
async function findSealed(): Promise<{ place: string; keyId: string }[]> {
  const visit = (place: string, value: unknown): { place: string; keyId: string }[] => {
    if (typeof value === 'string') {
      const keyId = /^v1\.([\w-]+)(?:\.[\w-]+){3}$/.exec(value)?.[1]
      return keyId === undefined ? [] : [{ place, keyId }]
    }
    return value === null || typeof value !== 'object'
      ? []
      : Object.entries(value).flatMap(([name, part]) => visit(`${place}.${name}`, part))
  }
  const collections = await recordsByCollection(context)
  return collections.flatMap(({ name, records }) => records.flatMap((record) => visit(name, record)))
}

it('after a rotation and `admin rewrap` every secret opens without the old key', async () => {
  const readAll = await storeSecrets(oldCipher)
  const places = SEALED_FIELDS.map(({ collection, path }) => `${collection}.${path}`)
  const stored = await findSealed()
  expect([...new Set(stored.map(({ place }) => place))].sort()).toEqual(places.sort())

  const refused = await runAdmin({ ...context.config, TOKEN_ENCRYPTION_KEYS: newerKey }, ['rewrap'])
  expect(refused).toMatchObject({ code: 1, output: expect.stringContaining(`Unreadable: ${stored.length}.`) })
  expect(refused.errors).toContain('Secrets still need another key')

  const { code, output } = await runAdmin({ ...context.config, ...bothKeys }, ['rewrap'])
  expect(output).toContain(`Moved to the key 2026: ${stored.length}. Unreadable: 0.`)
  expect(output).toMatch(new RegExp(`^2026 +${stored.length}$`, 'm'))
  expect(code).toBe(0)
  expect(new Set((await findSealed()).map(({ keyId }) => keyId))).toEqual(new Set(['2026']))
  await readAll(createTokenCipher(newerKey))

  const again = await runAdmin({ ...context.config, TOKEN_ENCRYPTION_KEYS: newerKey }, ['rewrap'])
  expect(again).toMatchObject({ code: 0, output: expect.stringContaining('Moved to the key 2026: 0.') })
})

it('a token that is renewed while secrets are moved keeps its new value', async () => {
  const userId = newId()
  const { version } = await connect(userId)
  const { sealedValues } = context
  const cipher = createTokenCipher(bothKeys.TOKEN_ENCRYPTION_KEYS)
  let isRenewed = false
  const list: typeof sealedValues.list = async (...args) => {
    const values = await sealedValues.list(...args)
    if (!isRenewed) {
      isRenewed = true
      const renewed = { accessToken: 'renewed', refreshToken: 'renewed too' } as Credentials
      const auth = sealSecrets(oldCipher, { userId, platform: 'tumblr', version: version + 1 }, renewed)
      await context.accounts.saveRenewed(
        { userId, platform: 'tumblr', version },
        { handle: 'ann', server: null, auth },
        version + 1,
      )
    }
    return values
  }
  await rewrapSecrets({ ...context, sealedValues: { ...sealedValues, list }, cipher })
  const readAgain = async () => openSecrets(cipher, (await context.accounts.findDefault(userId, 'tumblr'))!)
  expect(await readAgain()).toMatchObject({ accessToken: 'renewed', refreshToken: 'renewed too' })
  await rewrapSecrets({ ...context, cipher })
  expect(await readAgain()).toMatchObject({ accessToken: 'renewed', refreshToken: 'renewed too' })
})

it('the metric counts secrets by key, and a key that any secret needs is reported as missing', async () => {
  const { connection } = context.database
  await connection.collection('webhooks').insertOne({ sealedSecret: 'v1.lost.a.b.c' })
  await connection.collection('mails').insertOne({ sealed: null })
  const sealedSecrets = createSealedSecrets({ ...context, cipher: createTokenCipher(newerKey) })
  const metrics = createMetrics()
  metrics.secretsCounted(new Map([['removed', 3]]))
  const config = { ...context.config, METRICS_PORT: await freePort() }
  const server = await startMetricsServer({ ...context, config, metrics, sealedSecrets })
  onTestFinished(() => server.close())
  const expected = Object.groupBy(await findSealed(), ({ keyId }) => keyId)
  const lines = Object.entries(expected).map(([key, secrets]) => `{key="${key}"} ${secrets!.length}`)
  expect(lines.sort()).toEqual([expect.stringMatching(/^{key="2026"} \d+$/), '{key="lost"} 1'])
  await vi.waitFor(async () => {
    const text = await (await fetch(`http://${config.HOST}:${config.METRICS_PORT}/metrics`)).text()
    const found = [...text.matchAll(/^postonce_sealed_secrets(.*)$/gm)].map(([, line]) => line!)
    expect(found.sort()).toEqual(lines)
  }, 30_000)
  expect(await sealedSecrets.findMissingKeys()).toEqual(['lost'])
})
