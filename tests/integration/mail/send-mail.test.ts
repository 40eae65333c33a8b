import { MockActivityEnvironment } from '@temporalio/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createSweepActivities } from '../../../src/activities/publishing/sweep.ts'
import { mailBacklog, queueMail } from '../../../src/commands/notifications/queue-mail.ts'
import { codeMail } from '../../../src/domain/notifications/mail-texts.ts'
import { DAY, MINUTE } from '../../../src/domain/shared/times.ts'
import type { Mail } from '../../../src/store/notifications/mails.ts'
import { unique } from '../../support/servers.ts'
import { poll } from '../../support/service-in-process.ts'
import { startMailWorld } from './world.ts'

let world: Awaited<ReturnType<typeof startMailWorld>>
beforeAll(async () => {
  world = await startMailWorld()
})
afterAll(() => world?.stop())

const newAddress = () => `${unique('ann')}@example.test`

/** @returns the id of the mail */
async function queue(
  to: string | null,
  { lifeMs = DAY, deps = {} }: { lifeMs?: number; deps?: object } = {},
): Promise<string> {
  let mailId = ''
  const { mails } = world.context
  const noting = {
    ...mails,
    insert: (mail: Parameters<typeof mails.insert>[0]) => ((mailId = mail._id), mails.insert(mail)),
  }
  const content = { to, ...codeMail('123456') }
  await queueMail({ ...world.context, mails: noting, ...deps }, { kind: 'code', userId: null, lifeMs, ...content })
  return mailId
}

const stored = (mailId: string) => world.context.database.connection.collection<Mail>('mails').findOne({ _id: mailId })

describe('a mail', () => {
  it('a mail arrives as text and HTML under its own Message-ID, and its content is deleted', async () => {
    const to = newAddress()
    const mailId = await queue(to)
    const [mail] = await world.catcher.mails.until(to)
    expect(mail).toMatchObject({
      to: [to],
      from: 'no-reply@postonce.test',
      subject: 'Your code for postonce',
      text: expect.stringContaining('123456'),
      html: expect.stringContaining('<b>123456</b>'),
      messageId: `<${mailId}@postonce.test>`,
    })
    expect(await world.outcomeOf(mailId)).toBe('sent')
    expect(await stored(mailId)).toMatchObject({
      state: 'sent',
      failure: null,
      sealed: null,
      endedAt: expect.any(Date),
    })
  })

  it('a mail is retried while the mail server is unreachable, and arrives once', async () => {
    const to = newAddress()
    world.catcher.faults.add({ method: 'CONNECT', times: 1, action: { cut: true } })
    // A pooled connection would not meet the fault.
    world.catcher.cutConnections()
    const mailId = await queue(to)
    expect(await world.outcomeOf(mailId)).toBe('sent')
    expect(world.catcher.faults.list()).toEqual([])
    expect(world.catcher.mails.list(to)).toHaveLength(1)
  })

  it.each(['RCPT', 'DATA'])('a mail that is permanently refused at %s is given up', async (method) => {
    const to = newAddress()
    world.catcher.faults.add({ method, account: to, times: 1, action: { status: 550 } })
    const mailId = await queue(to)
    expect(await world.outcomeOf(mailId)).toBe('REFUSED')
    expect(world.catcher.faults.list()).toEqual([])
    expect(await stored(mailId)).toMatchObject({ state: 'failed', failure: 'REFUSED', sealed: null })
    expect(world.catcher.mails.list(to)).toEqual([])
  })

  it('an outdated mail is not sent', async () => {
    const to = newAddress()
    const mailId = await queue(to, { lifeMs: 0 })
    expect(await world.outcomeOf(mailId)).toBe('EXPIRED')
    expect(await stored(mailId)).toMatchObject({ state: 'failed', failure: 'EXPIRED', sealed: null })
    expect(world.catcher.mails.list(to)).toEqual([])
  })

  it('a mail without a recipient is not sent', async () => {
    expect(await world.outcomeOf(await queue(null))).toBe('NO_RECIPIENT')
  })

  it('a mail that cannot be read waits until it expires, and is not sent', async () => {
    const to = newAddress()
    const orchestrator = { startWork: async () => false }
    const options = { lifeMs: 3_000, deps: { orchestrator } }
    const [one, other] = [await queue(to, options), await queue(to, options)]
    const collection = world.context.database.connection.collection<Mail>('mails')
    await collection.updateOne({ _id: one }, { $set: { sealed: (await stored(other))!.sealed } })
    await collection.deleteOne({ _id: other })
    await world.context.orchestrator.startWork('sendMail', one, { summary: '', fairnessKey: 'x' })
    expect(await world.outcomeOf(one)).toBe('EXPIRED')
    expect(world.catcher.mails.list(to)).toEqual([])
  })
})

it('a mail waits for a worker and is sent once when one starts', async () => {
  const to = newAddress()
  await world.stopWorkers()
  const mailId = await queue(to)
  await world.startWorkers()
  expect(await world.outcomeOf(mailId)).toBe('sent')
  expect(world.catcher.mails.list(to)).toHaveLength(1)
})

it('the metrics count the outcomes of mails', async () => {
  const counted = async (outcome: string) =>
    Number(
      new RegExp(`^postonce_mails_total{outcome="${outcome}"} (\\d+)$`, 'm').exec(
        await world.context.metrics.text(),
      )![1],
    )
  const to = newAddress()
  world.catcher.faults.add({ method: 'RCPT', account: to, times: 1, action: { status: 550 } })
  const [sent, refused, expired] = [await counted('sent'), await counted('REFUSED'), await counted('EXPIRED')]
  for (const mailId of [await queue(to), await queue(to, { lifeMs: 0 }), await queue(to)]) await world.outcomeOf(mailId)
  expect(await counted('EXPIRED')).toBe(expired + 1)
  expect((await counted('sent')) + (await counted('REFUSED'))).toBe(sent + refused + 2)
})

describe('the sweeper', () => {
  async function sweepIn(ms: number): Promise<{ restarted: number }> {
    const { context } = world
    const clock = { ...context.clock, now: () => new Date(Date.now() + ms) }
    const { sweepDeliveries } = createSweepActivities({ ...context, clock, backlogs: [mailBacklog(context)] })
    return new MockActivityEnvironment().run<[], { restarted: number }, typeof sweepDeliveries>(sweepDeliveries)
  }

  it('the sweeper sends a mail that Temporal never received', async () => {
    const to = newAddress()
    const mailId = await queue(to, { deps: { orchestrator: { startWork: async () => false } } })
    expect(await sweepIn(0)).toEqual({ restarted: 0 })
    expect(await sweepIn(MINUTE)).toEqual({ restarted: 1 })
    expect(await world.outcomeOf(mailId)).toBe('sent')
    expect(world.catcher.mails.list(to)).toHaveLength(1)
    expect(await sweepIn(10 * MINUTE)).toEqual({ restarted: 0 })
    expect(await world.context.metrics.text()).toContain('postonce_sweep_work_total{work="sendMail"} 1')
  })

  it('the sweeper ignores a mail whose workflow is retrying', async () => {
    const to = newAddress()
    world.catcher.faults.add({ method: 'RCPT', account: to, times: 1, action: { status: 450 } })
    const mailId = await queue(to)
    await poll(
      async () => world.catcher.faults.list(),
      (faults) => faults.length === 0,
    )
    expect(await sweepIn(MINUTE)).toEqual({ restarted: 0 })
    expect(await world.outcomeOf(mailId)).toBe('sent')
  })
})
