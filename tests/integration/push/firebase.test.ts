import { generateKeyPairSync } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startPush, type PushLedgerEntry, type SandboxPush } from '../../../sandbox/services/push.ts'
import { toPushMessage } from '../../../src/domain/notifications/push.ts'
import { createPush, type Push, type PushOptions } from '../../../src/integrations/push/push.ts'
import { newId } from '../../../src/store/shared/schema.ts'
import { controlOf, type Control } from '../../support/platform-control.ts'
import { unique } from '../../support/servers.ts'
import { USER_AGENT } from '../../support/user-agent.ts'

const TIMEOUT_MS = 1_000

let receiver: SandboxPush
let control: Control
let push: Push
beforeAll(async () => {
  receiver = await startPush()
  control = controlOf(receiver.control)
  push = pushWith({})
})
afterEach(() => control.clearFaults())
afterAll(async () => {
  await push?.close()
  await receiver?.stop()
})

function pushWith(changes: Partial<PushOptions>): Push {
  const env = receiver.env()
  return createPush({
    projectId: env.FCM_PROJECT_ID,
    clientEmail: env.FCM_CLIENT_EMAIL,
    privateKey: env.FCM_PRIVATE_KEY,
    url: env.FCM_URL,
    tokenUrl: env.FCM_TOKEN_URL,
    userAgent: USER_AGENT,
    timeoutMs: TIMEOUT_MS,
    ...changes,
  })
}

const device = () => unique('a-device-of-firebase')
const createdAt = new Date()
const messageWith = (options: { link?: string; image?: string } = {}) =>
  toPushMessage({
    _id: newId(),
    message: 'Successfully posted on bluesky',
    type: 'success',
    reference: { type: 'post', id: newId() },
    options,
    createdAt,
  })
const sendTo = (token: string, by = push) => by.send(token, messageWith(), createdAt)

const ledgerOf = async (token: string) =>
  ((await control.ledger()) as PushLedgerEntry[]).filter(({ account }) => account === token)
const sends = async () => (await control.requests()).filter(({ path }) => path.endsWith('messages:send'))

describe('a push message', () => {
  it('a push message has the documented fields', async () => {
    const token = device()
    const message = messageWith({ link: 'https://bsky.app/1', image: 'https://media.example/1.png' })
    expect(await push.send(token, message, createdAt)).toEqual({ kind: 'sent' })
    const [entry] = await ledgerOf(token)
    const { notificationId } = message.data
    expect(entry!.message).toEqual({
      token,
      notification: { title: 'Update', body: 'Successfully posted on bluesky', image: 'https://media.example/1.png' },
      data: {
        notificationId,
        type: 'success',
        referenceType: 'post',
        referenceId: message.data.referenceId,
        link: 'https://bsky.app/1',
      },
      android: { collapse_key: notificationId, ttl: '86400s', notification: { tag: notificationId } },
      apns: {
        headers: {
          'apns-collapse-id': notificationId,
          'apns-expiration': String(Math.floor(createdAt.getTime() / 1_000) + 86_400),
        },
        payload: { aps: { 'thread-id': message.data.referenceId } },
      },
      webpush: {
        headers: { TTL: '86400' },
        notification: { tag: notificationId },
        fcm_options: { link: 'https://bsky.app/1' },
      },
    })
  })

  it('requests to Firebase carry our User-Agent, also for the access token', async () => {
    const own = pushWith({ userAgent: unique('agent') })
    expect(await sendTo(device(), own)).toEqual({ kind: 'sent' })
    await own.close()
    const made = (await control.requests()).filter(({ userAgent }) => userAgent?.startsWith('agent-'))
    expect(made.map(({ path }) => path)).toEqual(['/token', expect.stringMatching(/messages:send$/)])
  })

  it('a link that Firebase would refuse stays in the message’s data', async () => {
    const token = device()
    expect(await push.send(token, messageWith({ link: 'http://127.0.0.1/1' }), createdAt)).toEqual({ kind: 'sent' })
    const [entry] = await ledgerOf(token)
    expect(entry!.message.data['link']).toBe('http://127.0.0.1/1')
    expect(entry!.message.webpush).not.toHaveProperty('fcm_options')
  })
})

describe('detecting a dead device', () => {
  it('a device is dead after UNREGISTERED', async () => {
    const token = device()
    await control.revoke(token)
    expect(await sendTo(token)).toMatchObject({ kind: 'dead' })
  })

  it('a device is dead after an invalid token', async () => {
    expect(await sendTo('short')).toMatchObject({ kind: 'dead' })
  })

  it('a wrong project or key of ours does not make a device dead', async () => {
    const wrongProject = pushWith({ projectId: 'another' })
    expect(await sendTo(device(), wrongProject)).toMatchObject({ kind: 'later', isUnavailable: false })
    const { privateKey } = generateKeyPairSync('rsa', {
      modulusLength: 2_048,
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    })
    const wrongKey = pushWith({ privateKey: privateKey.replaceAll('\n', '\\n') })
    expect(await sendTo(device(), wrongKey)).toMatchObject({ kind: 'later' })
    await Promise.all([wrongProject.close(), wrongKey.close()])
  })
})

describe('a message causes one call', () => {
  it.each([
    [{ status: 503, headers: { 'retry-after': '0' } }, {}],
    [
      { status: 503, headers: { 'retry-after': '7' } },
      { waitMs: 7_000, isUnavailable: true },
    ],
    [
      { status: 429, headers: { 'retry-after': '90' } },
      { waitMs: 90_000, isUnavailable: false },
    ],
    [{ status: 500, body: 'no JSON' }, { isUnavailable: true }],
    [{ cut: true }, { isUnavailable: true }],
    [{ hang: true }, { isUnavailable: true }],
    [{ status: 200, body: { name: 'x' }, trickleBytesPerSecond: 2 }, { isUnavailable: true }],
  ])('a message answered with %j causes one call', async (action, expected) => {
    const before = (await sends()).length
    await control.fault({ path: 'messages:send', action })
    expect(await sendTo(device())).toMatchObject({ kind: 'later', ...expected })
    expect(await sends()).toHaveLength(before + 1)
  })

  it('a message whose response is lost causes one call', async () => {
    const token = device()
    await control.fault({ path: 'messages:send', action: { dropAfterAccept: true } })
    expect(await sendTo(token)).toMatchObject({ kind: 'later' })
    expect(await ledgerOf(token)).toHaveLength(1)
  })
})

it('an invalid private key is rejected at startup with the name of its variable', () => {
  expect(() => pushWith({ privateKey: 'not a key' })).toThrow('FCM_PRIVATE_KEY must be a private RSA key in PEM')
})

it('an unreachable token service is retried later', async () => {
  const nowhere = pushWith({ url: 'http://127.0.0.1:9' })
  expect(await sendTo(device(), nowhere)).toMatchObject({ kind: 'later', isUnavailable: true })
  await nowhere.close()
})
