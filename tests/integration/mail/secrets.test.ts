import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readHistories } from '../../faults/gather.ts'
import { unique } from '../../support/servers.ts'
import { allRecords, createRecordedLogger } from '../../support/traces.ts'
import { startMailWorld } from './world.ts'

/** No secret leaves its place: mails contain email addresses and credentials. */
let world: Awaited<ReturnType<typeof startMailWorld>>
const memory = createRecordedLogger()
const secrets: Record<string, string> = {}
/** Stored in the user's record. */
const [member, stranger] = [`${unique('member')}@example.test`, `${unique('stranger')}@example.test`]
const password = unique('password')

beforeAll(async () => {
  world = await startMailWorld({ LOG_LEVEL: 'trace' }, { logger: memory.logger })
  const { mails, faults } = world.catcher

  // A mail server's refusal names the address.
  for (const account of [member, stranger]) {
    faults.add({ method: 'RCPT', account, times: 1, action: { status: 450 } })
  }
  faults.add({ method: 'DATA', account: stranger, times: 1, action: { status: 554 } })

  await post('request-otp', { email: member }, 201)
  const [codeMail] = await mails.until(member)
  secrets['code'] = /^\d{6}$/m.exec(codeMail!.text)![0]
  const { verificationToken } = await post('verify-otp', { email: member, otp: secrets['code'] }, 200)
  secrets['verification token'] = verificationToken as string
  const account = { email: member, name: 'Ann', password, confirmPassword: password, verificationToken }
  const { accessToken } = await post('signup', account, 201)
  secrets['access token'] = accessToken as string
  await post('send-reset-email', { email: member }, 200)
  const [resetMail] = await mails.until(member, 2)
  secrets['reset token'] = /token=([\w-]+)/.exec(resetMail!.text)![1]!
  // The stranger's code never arrives, and is stored nowhere either.
  await post('request-otp', { email: stranger }, 201)
  await post('send-reset-email', { email: stranger }, 200)
  await world.untilEnded()
  Object.assign(secrets, { member, stranger, password, 'new password': unique('password') })
  await post('reset-password', { token: secrets['reset token'], email: member, password: secrets['new password'] }, 200)
  await post('login', { email: member, password: secrets['new password'] }, 200)
})
afterAll(() => world?.stop())

async function post(path: string, payload: object, status: number): Promise<Record<string, unknown>> {
  const response = await world.app.inject({ method: 'POST', url: `/api/auth/${path}`, payload })
  if (response.statusCode !== status) throw new Error(`${path} was answered with ${response.body}`)
  return response.json<{ data?: Record<string, unknown> }>().data ?? {}
}

function expectNone(where: string, except: string[] = []): void {
  expect(where.length).toBeGreaterThan(100)
  for (const [name, secret] of Object.entries(secrets)) {
    // Six separate digits, not part of an id or an instant.
    const isFound = name === 'code' ? new RegExp(`\\b${secret}\\b`).test(where) : where.includes(secret)
    if (!except.includes(name)) expect(isFound, name).toBe(false)
  }
}

describe('mail secrets', () => {
  it('mail secrets are not in the database, except for the address in the user’s record', async () => {
    const records = await allRecords(world.context)
    expectNone(JSON.stringify(records), ['member'])
    const others = records.filter((record) => record['email'] !== member)
    expect(JSON.stringify(others)).not.toContain(member)
  })

  it('mail secrets are not in workflow histories', async () => {
    const { TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE } = world.context.config
    const { text: histories } = await readHistories(TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE)
    expect(histories).toContain('sendMail')
    expect(histories).toContain('The mail server did not accept the mail: EENVELOPE RCPT TO 450')
    expectNone(histories)
  })

  it('mail secrets are not in the log', () => {
    const log = memory.written()
    expect(log).toContain('mail not accepted')
    expectNone(log)
  })
})
