import { once } from 'node:events'
import type { Notification } from '../../../src/store/notifications/notifications.ts'
import { poll, type DeliveryWorld } from '../../support/delivery-world.ts'
import { createProcesses, waitForLogEntry } from '../../support/processes.ts'
import { listPushStates, registerDevice, type PushReceiver } from '../../support/push.ts'
import { unique } from '../../support/servers.ts'

const DUE_IN_MS = 3_000

/**
 * Kills a separate worker between an accepted effect and its record, and starts another one. A post is published and its user
 * not yet notified; of another message, one device has it while the call for the other device hangs.
 */
export async function killWorker(world: DeliveryWorld, push: PushReceiver) {
  const processes = createProcesses()
  const collection = world.context.database.connection.db!.collection<Notification>('notifications')

  async function startWorker() {
    const worker = processes.start('src/worker.ts', { ...world.context.config, LOG_LEVEL: 'info' })
    worker.stderr!.resume()
    await waitForLogEntry(worker, 'worker ready')
    return worker
  }

  /** Prevents a notification with this key from being stored, by holding it in an open transaction. */
  async function hold(userId: string, dedupeKey: string) {
    const session = await world.context.database.connection.startSession()
    session.startTransaction()
    await collection.insertOne({ _id: unique('held'), userId, dedupeKey } as Notification, { session })
    return async (): Promise<number> => {
      // The killed worker's write is still waiting in the database and must not be applied.
      const admin = world.context.database.connection.getClient().db('admin')
      const { inprog } = await admin.command({ currentOp: true, ns: collection.namespace, op: 'insert' })
      for (const { opid } of inprog as { opid: number }[]) await admin.command({ killOp: 1, op: opid })
      await session.abortTransaction()
      await session.endSession()
      return (inprog as object[]).length
    }
  }

  try {
    const [worker] = await Promise.all([startWorker(), world.stopWorkers()])
    const user = await world.user()
    const devices = [await registerDevice(user), await registerDevice(user)]
    const untilPushed = (count: number) =>
      poll(
        () => listPushStates(world.context, user.userId),
        (states) => states.length === count && states.every((state) => state === 'sent'),
        60_000,
      )

    const scheduledAt = new Date(Date.now() + DUE_IN_MS).toISOString()
    const postId = await user.create({ content: { text: 'Good morning' }, scheduledAt })
    await untilPushed(1)
    const release = await hold(user.userId, `post-published:${postId}:bluesky`)
    await user.until(postId)
    const sends = (await push.sends()).length
    await push.control.fault({ path: 'messages:send', times: 1, action: { hang: true } })
    await world.context.notifications.insertOnce({
      userId: user.userId,
      dedupeKey: unique('event'),
      kind: 'webhook',
      message: 'Something happened',
      type: 'info',
      reference: { type: 'post', id: postId, model: 'Post' },
      options: {},
    })
    await poll(
      () => collection.countDocuments({ userId: user.userId, 'push.servedDevices': { $size: 1 } }),
      (served) => served === 1,
    )
    await poll(
      async () => (await push.sends()).length,
      (now) => now === sends + 2,
    )

    worker.kill('SIGKILL')
    await once(worker, 'exit')
    const storedWhenKilled = (await world.notificationsOf(user.userId)).length
    const heldWhenKilled = await release()
    await startWorker()
    await untilPushed(3)
    const news = await world.notificationsOf(user.userId)
    return { user, devices, postId, storedWhenKilled, heldWhenKilled, news }
  } finally {
    processes.killAll()
  }
}
