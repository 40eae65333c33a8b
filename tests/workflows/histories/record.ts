import { writeFile } from 'node:fs/promises'
import { devNull } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { Client, Connection, type WorkflowHandle } from '@temporalio/client'
import { ApplicationFailure } from '@temporalio/activity'
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js'
import { NativeConnection, Worker } from '@temporalio/worker'
import { startWorld } from '../../../bench/world.ts'
import { createUsers } from '../../../bench/users.ts'
import { findObjectStorage, startObjectStorage } from '../../../sandbox/servers/object-storage.ts'
import { startMailCatcher } from '../../../sandbox/services/mail.ts'
import { startPayments } from '../../../sandbox/services/payments.ts'
import { startPush } from '../../../sandbox/services/push.ts'
import { changeImport } from '../../../src/commands/imports/change-import.ts'
import { cancelPost } from '../../../src/commands/posts/cancel-post.ts'
import { createPost } from '../../../src/commands/posts/create-post.ts'
import { deletePost } from '../../../src/commands/posts/delete-post.ts'
import { receivePaymentEvent } from '../../../src/commands/billing/receive-payment-event.ts'
import { registerPushDevice } from '../../../src/commands/notifications/push-devices.ts'
import { sendTestEvent } from '../../../src/commands/webhooks/redeliver.ts'
import { createWebhook } from '../../../src/commands/webhooks/create-webhook.ts'
import { queueMail } from '../../../src/commands/notifications/queue-mail.ts'
import { retryPost } from '../../../src/commands/posts/retry-post.ts'
import { takeBackPost } from '../../../src/commands/posts/take-back-post.ts'
import { updatePost } from '../../../src/commands/posts/update-post.ts'
import { createContext } from '../../../src/context.ts'
import { NO_COUNTS } from '../../../src/domain/analytics/analytics.ts'
import { codeMail } from '../../../src/domain/notifications/mail-texts.ts'
import { CODE_LIFE_MS } from '../../../src/domain/notifications/mails.ts'
import { connectionExpired } from '../../../src/domain/notifications/notifications.ts'
import type { PaymentEvent } from '../../../src/domain/billing/payment-events.ts'
import { HOUR, MINUTE, SECOND } from '../../../src/domain/shared/times.ts'
import type { Platform } from '../../../src/domain/shared/platforms.ts'
import type { PlatformAdapter } from '../../../src/platforms/contract.ts'
import { PlatformError } from '../../../src/platforms/errors.ts'
import { loadBundle } from '../../../src/worker/bundle.ts'
import { startWorkers } from '../../../src/worker/create-workers.ts'
import { newId } from '../../../src/store/shared/schema.ts'
import {
  NOTHING_COLLECTED,
  refreshWorkflowId,
  toConnectionId,
  type CollectorTurn,
} from '../../../src/workflows/contract/analytics.ts'
import { backgroundWorkflowId } from '../../../src/workflows/contract/background-work.ts'
import { SUBSCRIPTION_SUMMARY, type SubscriptionState } from '../../../src/workflows/contract/billing.ts'
import { publishPostWorkflowId } from '../../../src/workflows/contract/publishing.ts'
import type { TaskQueue } from '../../../src/workflows/contract/task-queues.ts'
import { planTestImport } from '../../support/imports.ts'
import { startReceiver, status } from '../../support/webhook-receiver.ts'
import { signatureOf } from '../../support/webhooks.ts'
import { formatHistory, type RecordingName } from './recordings.ts'

/**
 * Records the histories that `recordings.ts` lists: `node scripts/run.mjs tests/workflows/histories/record.ts [posts imports payments
 * analytics webhooks scripted users]`. Without arguments it records all of them, in about four minutes.
 */
const PARTS = {
  posts: recordPosts,
  imports: recordImports,
  payments: recordPayments,
  analytics: recordAnalytics,
  webhooks: recordWebhooks,
  scripted: recordScripted,
  // The last part, because it erases the user.
  users: recordUsers,
}
const chosen = process.argv.slice(2)

/** No history may contain these, as `replay.test.ts` checks. */
const RECORDED_TEXT = 'Words of a post, for its readers alone'
const RECORDED_ADDRESS = 'recorded@example.test'
const RECORDED_TOKEN = 'recorded-token-of-a-device'
const STORAGE_KEYS = { accessKeyId: 'recorder', secretAccessKey: 'recorder-secret' }
/** How the next posts on Threads fail or are delayed. */
const publishFailures: (() => Promise<void>)[] = []
/** How the next removals fail. */
const removalFailures: Error[] = []
/** How the next calls for metrics or followers fail, by platform; null lets one through. */
const countFailures: Partial<Record<Platform, (Error | null)[]>> = {}
/** Posts whose preparation fails until an instant, epoch milliseconds. */
const unpreparedUntil = new Map<string, number>()

const rateLimit = (retryAfterMs: number) =>
  new PlatformError('rate_limited', 'Slow down', { certain: true, retryAfterMs })
const transient = () => new PlatformError('transient', 'The server has trouble', { certain: true })

async function countAs<T>(platform: Platform, count: T): Promise<T> {
  const failure = countFailures[platform]?.shift()
  if (failure) throw failure
  return count
}

const buildAdapter = (platform: Platform): PlatformAdapter => ({
  platform,
  async prepare({ postId }) {
    if (Date.now() < (unpreparedUntil.get(postId) ?? 0)) throw new Error('It cannot be prepared yet')
  },
  async publish({ postId }) {
    if (platform === 'threads') await publishFailures.shift()?.()
    return { platformPostId: `${platform}-${postId}`, platformPostUrl: `https://${platform}.example/${postId}` }
  },
  reconcile: async () => 'absent',
  async remove() {
    const failure = removalFailures.shift()
    if (failure) throw failure
  },
  profile: () => Promise.reject(new Error('unexpected call')),
  metrics: {
    perCall: platform === 'mastodon' ? 2 : 1,
    read: async (ids) => countAs(platform, new Map(ids.map((id) => [id, { ...NO_COUNTS, likes: 3 }]))),
  },
  followers: async () => countAs(platform, 10),
})

const world = await startWorld()
const [mail, push, storage] = [await startMailCatcher(), await startPush(), await startStorage()]
const payments = await startPayments()
const receiver = await startReceiver()
payments.processor.webhooks({ held: true })
const config = await world.config({
  ANALYTICS_AGES: '1:15,7:15',
  ALLOWED_PRIVATE_SERVERS: receiver.origin,
  ...mail.env(),
  ...push.env(),
  ...payments.env('http://127.0.0.1:9'),
  S3_ENDPOINT: storage.endpoint,
  S3_ACCESS_KEY_ID: STORAGE_KEYS.accessKeyId,
  S3_SECRET_ACCESS_KEY: STORAGE_KEYS.secretAccessKey,
})
const context = await createContext(config, {
  platforms: {
    find: buildAdapter,
    direct: () => null,
    redirect: () => null,
    warmUp: async () => {},
    close: async () => {},
  },
})
await Promise.all([
  context.database.createSchema(),
  context.storage.ensureBucket([config.FRONTEND_URL]),
  context.orchestrator.ensureSearchAttributes(),
])
const workers = await startWorkers(context)
const connection = await Connection.connect({ address: config.TEMPORAL_ADDRESS })
const client = new Client({ connection, namespace: config.TEMPORAL_NAMESPACE })

try {
  const [user] = await createUsers(context, 1)
  for (const [part, record] of Object.entries(PARTS)) {
    if (chosen.length === 0 || chosen.includes(part)) await record(user!._id)
  }
} finally {
  await connection.close()
  await workers.stop()
  await context.close()
  await Promise.all([mail.stop(), push.stop(), payments.stop(), receiver.stop(), storage.stop()])
  await world.stop()
}

async function recordPosts(userId: string): Promise<void> {
  const record = (name: RecordingName, postId: string) => recordEnd(name, publishPostWorkflowId(postId))
  const create = async (inSeconds: number | null, input: object = {}) => {
    const { data } = await createPost(context, {
      userId,
      input: {
        content: { text: RECORDED_TEXT },
        selectedPlatforms: ['mastodon', 'threads'],
        ...(inSeconds === null ? {} : { scheduledAt: new Date(Date.now() + inSeconds * SECOND).toISOString() }),
        ...input,
      },
      metadata: { source: 'api', client: 'api' },
      idempotency: null,
    })
    await context.startQueue.idle()
    return data.postId
  }

  await record('immediate', await create(null))
  publishFailures.push(() => delay(4 * SECOND))
  await record('immediate-slow', await create(null))
  publishFailures.push(() => Promise.reject(transient()))
  await record('immediate-repeated', await create(null))
  await record('scheduled', await create(14))

  const createWaiting = async () => {
    const postId = await create(3_600)
    await untilEvent(publishPostWorkflowId(postId), (event) => event.timerStartedEventAttributes)
    return postId
  }
  const waiting = await createWaiting()
  await cancelPost(context, { userId, postId: waiting })
  await record('cancelled-while-waiting', waiting)

  const armed = await create(20)
  await untilEvent(publishPostWorkflowId(armed), (event) => event.activityTaskScheduledEventAttributes)
  await cancelPost(context, { userId, postId: armed })
  await record('cancelled-while-armed', armed)

  const moved = await createWaiting()
  const scheduledAt = new Date(Date.now() + 12 * SECOND).toISOString()
  const update = { kind: 'patch' as const, input: { scheduledAt } }
  await updatePost(context, { userId, postId: moved, update, assertMayPublish: () => {} })
  await record('rescheduled', moved)

  const terminated = await createWaiting()
  await client.workflow.getHandle(publishPostWorkflowId(terminated)).cancel()
  await record('cancelled-by-operator', terminated)

  const deleted = await createWaiting()
  await deletePost(context, userId, deleted)
  await record('deleted-while-waiting', deleted)

  const partial = await create(13)
  publishFailures.push(() => Promise.reject(new PlatformError('validation', 'The text is refused', { certain: true })))
  await record('one-platform-refused', partial)
  await retryPost(context, { userId, postId: partial })
  await record('retried', partial)
  removalFailures.push(transient())
  await takeBackPost(context, { userId, postId: partial, requestedBy: userId })
  await recordEnd('taken-back', backgroundWorkflowId('changePublished', partial))

  const image = { storageKey: `posts/${userId}/00000000-0000-4000-8000-000000000000.png`, mimeType: 'image/png' }
  const content = { text: RECORDED_TEXT, mediaItems: [image] }
  const [prepared, unprepared] = [await create(75, { content }), await create(75, { content })]
  const dueAt = (await context.posts.find(unprepared, userId))!.dueAt!.getTime()
  unpreparedUntil.set(unprepared, dueAt - 2 * SECOND)
  await record('prepared-ahead', prepared)
  await record('preparation-given-up', unprepared)

  await create(3_600)
  await context.orchestrator.restartPosts()
  await recordEnd('posts-restarted', 'restartPosts')
  await recordScheduled('swept', 'sweep')
}

/** More rows than the allowance, so that the second import is paused and continues. */
async function recordImports(userId: string): Promise<void> {
  const users = context.database.connection.collection<{ _id: string }>('users')
  const setAllowance = (maxPosts: number) =>
    users.updateOne({ _id: userId }, { $set: { 'limits.maxPosts': maxPosts, 'usage.postsCreated': 0 } })
  const drafts = Array.from({ length: 30 }, () => ({
    content: { text: RECORDED_TEXT },
    selectedPlatforms: ['mastodon' as const],
    status: 'DRAFT' as const,
  }))
  const options = { skipErrors: false, skipConflicts: false }
  const apply = (importId: string, move: 'apply' | 'resume') =>
    changeImport(context, { userId, importId, move, ...(move === 'apply' && { options }), assertMayPublish: () => {} })

  await setAllowance(40)
  for (const [index, name] of (['import-applied', 'import-paused'] as const).entries()) {
    const { _id } = await planTestImport(context, userId, drafts)
    await apply(_id, 'apply')
    await recordEnd(name, backgroundWorkflowId('applyImport', _id))
    if (index === 0) continue
    await setAllowance(1_000)
    await apply(_id, 'resume')
    await recordEnd('import-resumed', backgroundWorkflowId('applyImport', _id))
  }
}

async function recordAnalytics(userId: string): Promise<void> {
  const records = context.database.connection.collection<{ _id: string }>('posts')
  const onBoth: Platform[] = ['mastodon', 'threads']
  const publish = async (ageMs: number) => {
    const input = { content: { text: RECORDED_TEXT }, selectedPlatforms: onBoth }
    const { data } = await createPost(context, {
      userId,
      input,
      metadata: { source: 'api', client: 'api' },
      idempotency: null,
    })
    await context.startQueue.idle()
    await client.workflow.getHandle(publishPostWorkflowId(data.postId)).result()
    const completedAt = new Date(Date.now() - ageMs)
    await records.updateOne({ _id: data.postId }, { $set: { 'platformStatuses.$[].completedAt': completedAt } })
    return data.postId
  }
  await recordScheduled('followers-collected', 'collectAccountMetrics', 'analytics')
  const connectionId = toConnectionId((await context.accounts.findDefault(userId, 'mastodon'))!)
  const ofAccount = { summary: 'Collect the followers of a new account', fairnessKey: userId }
  await context.orchestrator.startWork('collectFollowers', connectionId, ofAccount)
  await recordEnd('followers-of-new-account', backgroundWorkflowId('collectFollowers', connectionId))

  const first = await publish(HOUR)
  for (const ageMs of [HOUR, 26 * HOUR]) await publish(ageMs)
  countFailures.mastodon = [transient()]
  countFailures.threads = [null, rateLimit(HOUR)]
  await records.updateMany({ userId }, { $set: { 'platformStatuses.$[].metricsDueAt': new Date(0) } })
  await recordScheduled('metrics-collected', 'collectPostMetrics', 'analytics')

  const scheduledAt = new Date(Date.now() + 10 * MINUTE).toISOString()
  const scheduled = { content: { text: RECORDED_TEXT }, selectedPlatforms: onBoth, scheduledAt }
  await createPost(context, { userId, input: scheduled, metadata: { source: 'api', client: 'api' }, idempotency: null })
  await recordScheduled('due-posts-checked', 'checkDuePosts')
  await recordScheduled('snapshots-downsampled', 'downsampleSnapshots')
  await recordScheduled('tokens-renewed', 'renewTokens')
  await recordScheduled('uploads-cleaned', 'cleanUploads')

  const refreshed = { userId, postId: first, platform: 'mastodon' as const }
  await context.orchestrator.refreshMetrics(refreshed, 5 * SECOND)
  await recordEnd('metrics-refreshed', refreshWorkflowId(refreshed))

  const [letter] = await Array.fromAsync(context.deadLetters.allOf(userId))
  const options = { summary: 'Replay of a post on mastodon', fairnessKey: userId }
  await context.orchestrator.startWork('replayDeadLetter', letter!._id, options)
  await recordEnd('dead-letter-replayed', backgroundWorkflowId('replayDeadLetter', letter!._id))
}

async function recordWebhooks(userId: string): Promise<void> {
  const url = `${receiver.origin}/${RECORDED_TOKEN}`
  const { webhook } = await createWebhook(context, { userId, url, description: RECORDED_TEXT, events: [] })
  const workflowId = backgroundWorkflowId('deliverWebhooks', webhook._id)
  const send = () => sendTestEvent(context, { userId, webhookId: webhook._id })

  await send()
  await receiver.until(`/${RECORDED_TOKEN}`, 1)
  await recordEnd('webhook-delivered', workflowId)

  receiver.respond(`/${RECORDED_TOKEN}`, status(500))
  await send()
  await recordWaiting('webhook-waits-for-retry', client.workflow.getHandle(workflowId))
  receiver.accept(`/${RECORDED_TOKEN}`)
  await send()
  await recordEnd('webhook-woken-and-retried', workflowId)
}

async function recordUsers(userId: string): Promise<void> {
  const to = RECORDED_ADDRESS
  const words = codeMail('000000')
  await queueMail(context, { kind: 'code', userId: null, lifeMs: CODE_LIFE_MS, to, ...words })
  const [sent] = await context.database.connection.collection<{ _id: string }>('mails').find().toArray()
  await recordEnd('mail-sent', backgroundWorkflowId('sendMail', sent!._id))

  await registerPushDevice(context, { userId, token: RECORDED_TOKEN, platform: 'ios' })
  await context.notifications.insertOnce(connectionExpired({ userId, platform: 'mastodon', version: 1 }))
  const [stored] = await context.notifications.listOf(userId, 1)
  await context.orchestrator.startWork('deliverPush', stored!._id, { summary: 'A push message', fairnessKey: userId })
  await recordEnd('push-delivered', backgroundWorkflowId('deliverPush', stored!._id))

  await context.database.transaction((session) => context.erasures.begin(userId, new Date(), session))
  await context.orchestrator.startWork('eraseAccount', userId, { summary: 'Erase an account', fairnessKey: userId })
  await recordWaiting('erasure-under-way', client.workflow.getHandle(backgroundWorkflowId('eraseAccount', userId)))
}

/** Receives the processor's events one by one, as its webhooks would deliver them. */
async function recordPayments(userId: string): Promise<void> {
  const { processor } = payments
  const received = new Set<string>()
  const handleOf = (...what: Parameters<typeof backgroundWorkflowId>) =>
    client.workflow.getHandle(backgroundWorkflowId(...what))
  const watching = handleOf('subscription', userId)

  const receive = async (type: string, changes: Partial<PaymentEvent> = {}) => {
    const found = processor.events().find((event) => event.type === type && !received.has(event.id))
    if (!found) throw new Error(`The processor has not reported ${type}`)
    received.add(found.id)
    const payload = Buffer.from(JSON.stringify(found.body))
    const signature = signatureOf(payload, { secret: config.STRIPE_WEBHOOK_SECRETS })
    const event = await context.payments!.readEvent(payload, signature, new Date())
    await receivePaymentEvent(context, { ...event, ...changes })
    while ((await context.paymentEvents.find(found.id))?.state === 'waiting') await delay(100)
    return found.id
  }

  const { subscriptionId } = processor.subscribe({ userId, email: RECORDED_ADDRESS })
  await receive('checkout.session.completed')
  await receive('invoice.payment_succeeded')
  await recordWaiting('payments-watched', watching)

  processor.cancel(subscriptionId)
  const updated = await receive('customer.subscription.updated', {
    userId: null,
    customerId: null,
    payloadSubscription: null,
  })
  await recordWaiting('payment-routed', handleOf('routePaymentEvent', updated))
  processor.subscribe({ userId: 'of-another-service', email: RECORDED_ADDRESS })
  const foreign = await receive('checkout.session.completed')
  await recordEnd('payment-of-no-user', backgroundWorkflowId('routePaymentEvent', foreign))

  await recordScheduled('billing-reconciled', 'reconcileBilling')

  processor.end(subscriptionId)
  await receive('customer.subscription.deleted')
  await recordEnd('payments-ended', watching.workflowId)
  await context.orchestrator.startWork('subscription', userId, { summary: SUBSCRIPTION_SUMMARY, fairnessKey: userId })
  await recordEnd('payments-not-there', watching.workflowId)
}

/** Runs a workflow with scripted activities, and records it. */
type RunScripted = (
  name: string,
  activities: object,
  args: unknown[],
  record: (workflowId: string) => Promise<void>,
) => Promise<void>

/** Records branches that take many records, long waits or rare failures, with scripted activities. */
async function recordScripted(userId: string): Promise<void> {
  const native = await NativeConnection.connect({ address: config.TEMPORAL_ADDRESS })
  const workflowBundle = await loadBundle()
  const run: RunScripted = async (name, activities, args, record) => {
    const taskQueue = `scripted-${newId()}`
    const { TEMPORAL_NAMESPACE: namespace } = config
    const worker = await Worker.create({ connection: native, namespace, taskQueue, activities, workflowBundle })
    await worker.runUntil(async () => {
      const { workflowId } = await client.workflow.start(name, { taskQueue, workflowId: `${name}/${newId()}`, args })
      await record(workflowId)
    })
  }

  const postId = newId()
  const platforms = [{ platform: 'mastodon', round: 0 }]
  const plan = { postId, userId, revision: 0, dueAt: Date.now(), armAt: Date.now() - 5 * SECOND, platforms }
  const publishing = {
    publishToPlatform: () => Promise.reject(ApplicationFailure.nonRetryable('The delivery is lost')),
    giveUpDelivery: async () => ({ outcome: 'failed', status: 'FAILED', revision: 1 }),
  }
  await run('publishPost', publishing, [plan], (id) => recordEnd('delivery-given-up', id))

  const steps = ['Remove the posts', 'Remove the user']
  const erasing = {
    beginErasure: async () => ({ steps, repeatAt: Date.now() + SECOND }),
    runErasureStep: async () => {},
    closeErasure: async () => {},
  }
  await run('eraseAccount', erasing, [userId], (id) => recordEnd('erasure-completed', id))

  const state = { isLive: true, periodEndsAt: Date.now() + 3 * SECOND - 5 * MINUTE, planAndStatus: 'pro/active' }
  const states: SubscriptionState[] = [
    { ...state, change: 'nothing' },
    { ...state, isLive: false, change: 'ended' },
  ]
  const syncing = { syncSubscription: async () => states.shift() }
  await run('subscription', syncing, [userId], (id) => recordEnd('payments-period-ended', id))

  let turns = 0
  const collecting = {
    collectDuePosts: async (): Promise<CollectorTurn> => {
      turns += 1
      if (turns === 1) throw new Error('The database is down')
      return { ...NOTHING_COLLECTED, saved: 1, resumeAt: turns <= 4 ? Date.now() + (turns % 2) * 2 * SECOND : null }
    },
  }
  await run('collectPostMetrics', collecting, [], (id) => recordEnd('metrics-collected-in-turns', id))
  await native.close()
}

/** Starts a workflow as its Schedule does, and records it. */
async function recordScheduled(name: RecordingName, workflow: string, taskQueue: TaskQueue = 'maintenance') {
  await client.workflow.start(workflow, { taskQueue, workflowId: workflow })
  await recordEnd(name, workflow)
}

/** Records a workflow that waits for a long time. */
async function recordWaiting(name: RecordingName, { workflowId }: WorkflowHandle): Promise<void> {
  await untilEvent(workflowId, (event) => event.timerStartedEventAttributes)
  await recordHistory(name, workflowId)
}

async function recordEnd(name: RecordingName, workflowId: string): Promise<void> {
  await client.workflow.getHandle(workflowId).result()
  await recordHistory(name, workflowId)
}

type HistoryEvent = NonNullable<Awaited<ReturnType<WorkflowHandle['fetchHistory']>>['events']>[number]

async function untilEvent(workflowId: string, isWanted: (event: HistoryEvent) => unknown): Promise<void> {
  const handle = client.workflow.getHandle(workflowId)
  while (!(await handle.fetchHistory()).events?.some(isWanted)) await delay(100)
}

/** Records the latest run, unless one is named. */
async function recordHistory(name: RecordingName, workflowId: string, runId?: string): Promise<void> {
  const history = await client.workflow.getHandle(workflowId, runId).fetchHistory()
  const file = new URL(`./next/${name}.json`, import.meta.url)
  await writeFile(file, formatHistory(historyToJSON(history)))
  process.stdout.write(`${name}: ${history.events?.length} events\n`)
}

async function startStorage() {
  return startObjectStorage({ program: await findObjectStorage(), logFile: devNull, ...STORAGE_KEYS })
}
