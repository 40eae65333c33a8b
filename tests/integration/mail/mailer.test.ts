import { randomBytes } from 'node:crypto'
import { MockActivityEnvironment } from '@temporalio/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startMailCatcher, type MailCatcher } from '../../../sandbox/services/mail.ts'
import { createSendMailActivities, type SendMailResult } from '../../../src/activities/notifications/send-mail.ts'
import { systemClock } from '../../../src/clock.ts'
import { sealMail } from '../../../src/commands/notifications/mail-secrets.ts'
import { MINUTE } from '../../../src/domain/shared/times.ts'
import { createMailer } from '../../../src/integrations/mail/mail.ts'
import { createMetrics } from '../../../src/telemetry/metrics.ts'
import { createTokenCipher } from '../../../src/security/token-cipher.ts'
import type { Mail } from '../../../src/store/notifications/mails.ts'
import { unique } from '../../support/servers.ts'
import { partial } from '../../support/partial.ts'
import type { Context } from '../../../src/context.ts'

let catcher: MailCatcher
beforeAll(async () => {
  catcher = await startMailCatcher()
})
afterAll(() => catcher?.stop())

const words = { subject: 'Hello', text: 'Hello', html: '<p>Hello</p>' }
const signal = new AbortController().signal
const newAddress = () => `${unique('ann')}@example.test`

describe('the mailer', () => {
  async function send(to: string, options: Partial<Parameters<typeof createMailer>[0]> = {}, words_ = words) {
    const mailer = createMailer({ url: catcher.smtpUrl, from: 'Post Once <post@once.test>', ...options })
    try {
      await mailer.send({ id: 'x1', to, ...words_ }, { signal })
    } finally {
      await mailer.close()
    }
  }

  it('sending without a configured mail server fails', async () => {
    await expect(send(newAddress(), { url: '' })).rejects.toMatchObject({
      message: 'SMTP_URL is not set',
      isFinal: false,
    })
  })

  it('the mailer rejects a URL that is not a mail server, without showing it', () => {
    const url = 'https://user:secret@mail.example.test'
    expect(() => createMailer({ url, from: 'a@b.test' })).toThrow(/^SMTP_URL must begin with smtp:\/\/ or smtps:\/\/$/)
  })

  it.each([
    ['says nothing when called', { method: 'CONNECT', action: { hang: true } }],
    ['falls silent', { method: 'RCPT', action: { hang: true } }],
    ['hangs up', { method: 'DATA', action: { cut: true } }],
    ['refuses for now', { method: 'RCPT', action: { status: 421 } }],
  ])('a server that %s is treated as temporarily unavailable', async (_, fault) => {
    catcher.faults.add({ ...fault, times: 1 })
    await expect(send(newAddress(), { silenceMs: 300, sendMs: 600 })).rejects.toMatchObject({ isFinal: false })
    expect(catcher.faults.list()).toEqual([])
  })

  it('the mailer hands a mail over once, also when the response is lost', async () => {
    const to = newAddress()
    catcher.faults.add({ method: 'DATA', account: to, times: 1, action: { dropAfterAccept: true } })
    await expect(send(to)).rejects.toMatchObject({ isFinal: false })
    expect(catcher.mails.list(to)).toHaveLength(1)
  })

  it('the error of a refused mail contains neither the address nor the text', async () => {
    const to = newAddress()
    catcher.faults.add({ method: 'RCPT', account: to, times: 1, action: { status: 550 } })
    await expect(send(to)).rejects.toMatchObject({
      message: 'The mail server did not accept the mail: EENVELOPE RCPT TO 550',
      isFinal: true,
    })
  })

  it.each([
    ['two addresses', (one: string, other: string) => `${one}, ${other}`],
    ['a line break', (one: string, other: string) => `${one}\r\nBcc: ${other}`],
    ['a name', (one: string, other: string) => `"${other}" <${other}>, ${one}`],
  ])('an address with %s reaches no second recipient', async (_, join) => {
    const [one, other] = [newAddress(), newAddress()]
    await send(join(one, other)).catch(() => {})
    expect(catcher.mails.list(other)).toEqual([])
  })

  it('a subject cannot add a header', async () => {
    const [to, other] = [newAddress(), newAddress()]
    await send(to, {}, { ...words, subject: `Hello\r\nBcc: ${other}` })
    expect(catcher.mails.list(other)).toEqual([])
    expect(catcher.mails.list(to)).toMatchObject([{ subject: `Hello Bcc: ${other}` }])
  })
})

describe('an accepted mail', () => {
  it('an accepted mail is not sent again when only recording it failed', async () => {
    const cipher = createTokenCipher(`k:${randomBytes(32).toString('base64')}`)
    const mail = {
      _id: 'm1',
      sealed: sealMail(cipher, 'm1', { to: 'ann@example.test', ...words }),
      expiresAt: new Date(Date.now() + MINUTE),
    } as Mail
    let sent = 0
    let ended: unknown[] = []
    const deps = (isDown: boolean) =>
      partial<Context>({
        mails: partial({
          lease: async () => mail,
          end: async (...args) => {
            if (isDown) throw new Error('no database')
            ended = args
          },
        }),
        mailer: partial({
          send: async () => {
            sent += 1
          },
        }),
        cipher,
        clock: systemClock,
        metrics: createMetrics(),
      })
    const run = (env: MockActivityEnvironment, isDown: boolean) => {
      const { sendMail } = createSendMailActivities(deps(isDown))
      return env.run<[string], SendMailResult, typeof sendMail>(sendMail, 'm1')
    }
    const first = new MockActivityEnvironment()
    let remembered: unknown
    first.on('heartbeat', (details: unknown) => (remembered = details))
    await expect(run(first, true)).rejects.toThrow('no database')
    expect(await run(new MockActivityEnvironment({ heartbeatDetails: remembered }), false)).toBe('sent')
    expect(sent).toBe(1)
    expect(ended.slice(0, 2)).toEqual(['m1', null])
  })
})
