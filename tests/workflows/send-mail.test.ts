import { randomBytes } from 'node:crypto'
import type { TestWorkflowEnvironment } from '@temporalio/testing'
import { Worker, type WorkflowBundleOption } from '@temporalio/worker'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createSendMailActivities } from '../../src/activities/notifications/send-mail.ts'
import { sealMail } from '../../src/commands/notifications/mail-secrets.ts'
import { CODE_LIFE_MS, MailError, type MailFailure } from '../../src/domain/notifications/mails.ts'
import { DAY, HOUR, MINUTE } from '../../src/domain/shared/times.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import { createTokenCipher } from '../../src/security/token-cipher.ts'
import type { Mail } from '../../src/store/notifications/mails.ts'
import { loadBundle } from '../../src/worker/bundle.ts'
import { createSkippedClock, startTestServer, synced } from './skipped-time.ts'
import { partial } from '../support/partial.ts'

let env: TestWorkflowEnvironment
let workflowBundle: WorkflowBundleOption
beforeAll(async () => {
  env = await startTestServer()
  workflowBundle = await loadBundle()
})
afterAll(() => env?.teardown())

const cipher = createTokenCipher(`k:${randomBytes(32).toString('base64')}`)
let mails = 0

/** Sends a mail with the given lifetime through a mail server that is unavailable for `outageMs`. */
async function send({ lifeMs, outageMs }: { lifeMs: number; outageMs: number }) {
  const clock = await createSkippedClock(env)
  const start = clock.now().getTime()
  const mailId = `m${++mails}`
  const content = { to: 'ann@example.test', subject: 'Hello', text: 'Hello', html: 'Hello' }
  const mail = { _id: mailId, sealed: sealMail(cipher, mailId, content), expiresAt: new Date(start + lifeMs) } as Mail
  const calls: number[] = []
  const accepted: number[] = []
  let ended: MailFailure | null | undefined
  const activities = createSendMailActivities(
    partial({
      mails: partial({
        lease: async () => mail,
        end: async (_, failure) => {
          ended = failure
        },
      }),
      mailer: partial({
        async send() {
          const at = clock.now().getTime() - start
          calls.push(at)
          if (at < outageMs) throw new MailError('connect ECONNREFUSED', { isFinal: false })
          accepted.push(at)
        },
      }),
      cipher,
      clock,
      metrics: createMetrics(),
    }),
  )
  const taskQueue = `mails-${process.pid}-${mails}`
  const worker = await Worker.create({
    connection: env.nativeConnection,
    taskQueue,
    activities: synced(activities, clock.sync),
    workflowBundle,
  })
  const handle = await env.client.workflow.start('sendMail', {
    taskQueue,
    workflowId: `mail/${mailId}`,
    args: [mailId],
  })
  const outcome = (await worker.runUntil(handle.result())) as string
  return { outcome, calls, accepted, ended, history: await handle.fetchHistory() }
}

it('a mail is sent within about a minute after an outage of hours', async () => {
  const { outcome, accepted, ended, history } = await send({ lifeMs: DAY, outageMs: 5 * HOUR })
  expect(outcome).toBe('sent')
  expect(ended).toBeNull()
  expect(accepted).toHaveLength(1)
  expect(accepted[0]).toBeLessThan(5 * HOUR + 2 * MINUTE)
  // Retries of an activity add no events to the history.
  expect(history.events!.length).toBeLessThan(15)
})

it('a mail fails after its expiry, and a code is never sent late', async () => {
  const { outcome, calls, accepted, ended } = await send({ lifeMs: CODE_LIFE_MS, outageMs: CODE_LIFE_MS + 1 })
  expect(outcome).toBe('EXPIRED')
  expect(ended).toBe('EXPIRED')
  expect(accepted).toEqual([])
  expect(Math.max(...calls)).toBeLessThan(CODE_LIFE_MS)
  expect(calls.length).toBeGreaterThan(5)
})
