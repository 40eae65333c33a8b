import { afterAll, beforeAll, expect, it } from 'vitest'
import { queueMail } from '../../../src/commands/notifications/queue-mail.ts'
import { codeMail } from '../../../src/domain/notifications/mail-texts.ts'
import { DAY } from '../../../src/domain/shared/times.ts'
import { registerDevice, startPushReceiver, type PushReceiver } from '../../support/push.ts'
import { unique } from '../../support/servers.ts'
import { poll } from '../../support/service-in-process.ts'
import { startMailWorld } from './world.ts'

const SLOTS = 4
/** A single user can fill three quarters of the slots. */
const USABLE_SLOTS = 3

let push: PushReceiver
let world: Awaited<ReturnType<typeof startMailWorld>>
beforeAll(async () => {
  push = await startPushReceiver()
  world = await startMailWorld({ ...push.env(), WORKER_NOTIFICATION_SLOTS: SLOTS })
})
afterAll(async () => {
  await push?.control.clearFaults()
  await world?.stop()
  await push?.stop()
})

it('hanging pushes of one user leave a slot for a mail', async () => {
  const user = await world.logIn()
  await registerDevice(user)
  await push.control.fault({ path: 'messages:send', action: { hang: true } })
  for (let count = 0; count < 2 * SLOTS; count++) {
    const dedupeKey = unique('event')
    const reference = { type: 'post', id: dedupeKey, model: 'Post' }
    const notification = {
      userId: user.userId,
      dedupeKey,
      message: 'Something happened',
      type: 'info',
      reference,
      options: {},
    }
    await world.context.notifications.insertOnce(
      notification as Parameters<typeof world.context.notifications.insertOnce>[0],
    )
  }
  await poll(push.sends, ({ length }) => length >= USABLE_SLOTS)
  const to = `${unique('ann')}@example.test`
  await queueMail(world.context, { kind: 'code', userId: null, lifeMs: DAY, to, ...codeMail('123456') })
  expect(await world.catcher.mails.until(to)).toHaveLength(1)
  // No call has ended and made room for another one.
  expect(await push.sends()).toHaveLength(USABLE_SLOTS)
})
