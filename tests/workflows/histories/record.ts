import { mkdir, writeFile } from 'node:fs/promises'
import { devNull } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { Client, Connection, type WorkflowHandle } from '@temporalio/client'
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js'
import { startWorld } from '../../../bench/world.ts'
import { createUsers } from '../../../bench/users.ts'
import { findObjectStorage, startObjectStorage } from '../../../sandbox/servers/object-storage.ts'
import { startMailCatcher } from '../../../sandbox/services/mail.ts'
import { startPayments } from '../../../sandbox/services/payments.ts'
import { startPush } from '../../../sandbox/services/push.ts'
import { changeImport } from '../../../src/commands/imports/change-import.ts'
import { cancelPost } from '../../../src/commands/posts/cancel-post.ts'
import { createPost } from '../../../src/commands/posts/create-post.ts'
import { receivePaymentEvent } from '../../../src/commands/billing/receive-payment-event.ts'
import { registerPushDevice } from '../../../src/commands/notifications/push-devices.ts'
import { sendTestEvent } from '../../../src/commands/webhooks/redeliver.ts'
import { createWebhook } from '../../../src/commands/webhooks/create-webhook.ts'
import { queueMail } from '../../../src/commands/notifications/queue-mail.ts'
import { retryPost } from '../../../src/commands/posts/retry-post.ts'
import { updatePost } from '../../../src/commands/posts/update-post.ts'
import { createContext } from '../../../src/context.ts'
import { NO_COUNTS } from '../../../src/domain/analytics/analytics.ts'
import { codeMail } from '../../../src/domain/notifications/mail-texts.ts'
import { CODE_LIFE_MS } from '../../../src/domain/notifications/mails.ts'
import { connectionExpired } from '../../../src/domain/notifications/notifications.ts'
import type { PaymentEvent } from '../../../src/domain/billing/payment-events.ts'
import { HOUR, MINUTE, SECOND } from '../../../src/domain/shared/times.ts'
import { PLATFORMS, type Platform } from '../../../src/domain/shared/platforms.ts'
import type { PlatformAdapter } from '../../../src/platforms/contract.ts'
import { PlatformError } from '../../../src/platforms/errors.ts'
import { startWorkers } from '../../../src/worker/create-workers.ts'
import { refreshWorkflowId } from '../../../src/workflows/messages/analytics.ts'
import { backgroundWorkflowId } from '../../../src/workflows/background-work.ts'
import { SUBSCRIPTION_SUMMARY } from '../../../src/workflows/messages/billing.ts'
import { publishPostWorkflowId } from '../../../src/workflows/messages/publishing.ts'
import type { TaskQueue } from '../../../src/workflows/task-queues.ts'
import { planTestImport } from '../../support/imports.ts'
import { publishedPost, storePosts } from '../../support/published.ts'
import { startReceiver, status } from '../../support/webhook-receiver.ts'
import { signatureOf } from '../../support/webhooks.ts'

/**
 * Records what the workflows of today leave in Temporal, one file a way: `node scripts/run.mjs tests/workflows/histories/record.ts <version> [posts
 * imports people payments analytics webhooks]`. Files of earlier versions stay as they are: posts scheduled under them may still be waiting somewhere.
 */
const [version, ...chosen] = process.argv.slice(2)
if (!version) throw new Error('Name the version the histories belong to, such as v1')
const isChosen = (part: 'posts' | 'imports' | 'people' | 'payments' | 'analytics' | 'webhooks') => chosen.length === 0 || chosen.includes(part)
const folder = new URL(`./${version}/`, import.meta.url)
await mkdir(folder, { recursive: true })

/** No history may contain it, as `replay.test.ts` checks. */
const RECORDED_TEXT = 'Words of a post, for its readers alone'
const RECORDED_ADDRESS = 'recorded@example.test'
const RECORDED_TOKEN = 'recorded-token-of-a-device'
const STORAGE_KEYS = { accessKeyId: 'recorder', secretAccessKey: 'recorder-secret' }
/** A shard with this many due posts of one owner has more than five pages. */
const LISTED_TWICE = 1_100
const refusing = new Set<string>()
/** What the next calls for metrics or followers fail with, by platform; null lets one through. */
const troubles: Partial<Record<Platform, (Error | null)[]>> = {}
async function told<T>(platform: Platform, answer: T): Promise<T> {
  const trouble = troubles[platform]?.shift()
  if (trouble) throw trouble
  return answer
}
const adapterOf = (platform: Platform): PlatformAdapter => ({
  platform,
  prepare: async () => {},
  async publish({ postId }) {
    if (platform === 'threads' && refusing.delete(postId)) {
      throw new PlatformError('validation', 'The platform refused the text', { certain: true })
    }
    return { platformPostId: `${platform}-${postId}`, platformPostUrl: `https://${platform}.example/${postId}` }
  },
  reconcile: async () => 'absent',
  profile: () => Promise.reject(new Error('not asked for here')),
  metrics: {
    perCall: platform === 'mastodon' ? 2 : 1,
    read: async (ids) => told(platform, new Map(ids.map((id) => [id, { ...NO_COUNTS, likes: 3 }]))),
  },
  followers: async () => told(platform, 10),
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
    find: adapterOf,
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
  if (!user) throw new Error('No user')
  if (isChosen('posts')) await recordPosts(user._id)
  if (isChosen('imports')) await recordImports(user._id)
  if (isChosen('payments')) await recordPayments(user._id)
  if (isChosen('analytics')) await recordAnalytics(user._id)
  if (isChosen('webhooks')) await recordWebhooks(user._id)
  // Last: it is the end of the user.
  if (isChosen('people')) await recordPeople(user._id)
} finally {
  await connection.close()
  await workers.stop()
  await context.close()
  await Promise.all([mail.stop(), push.stop(), payments.stop(), receiver.stop(), storage.stop()])
  await world.stop()
}

async function recordPosts(userId: string): Promise<void> {
  const handleOf = (postId: string) => client.workflow.getHandle(publishPostWorkflowId(postId))

  const create = async (inSeconds: number | null, input: object = {}) => {
    const { data } = await createPost(context, {
      userId,
      input: {
        content: { text: RECORDED_TEXT },
        selectedPlatforms: ['mastodon', 'threads'],
        ...(inSeconds === null ? {} : { scheduledAt: new Date(Date.now() + inSeconds * SECOND).toISOString() }),
        ...input,
      },
      source: 'api',
      idempotency: null,
    })
    await context.startQueue.idle()
    return data.postId
  }

  const record = (name: string, postId: string) => recordEnd(name, publishPostWorkflowId(postId))

  await record('immediate', await create(null))
  await record('scheduled', await create(14))

  const cancelled = await create(3_600)
  await cancelPost(context, userId, cancelled)
  await record('cancelled-while-waiting', cancelled)

  const armed = await create(9)
  await cancelPost(context, userId, armed)
  await record('cancelled-while-armed', armed)

  const moved = await create(3_600)
  const scheduledAt = new Date(Date.now() + 12 * SECOND).toISOString()
  await updatePost(context, { userId, postId: moved, update: { kind: 'patch', input: { scheduledAt } }, assertMayPublish: () => {} })
  await record('rescheduled', moved)

  const terminated = await create(3_600)
  await handleOf(terminated).cancel()
  await record('cancelled-by-operator', terminated)

  const partial = await create(13)
  refusing.add(partial)
  await record('one-platform-refused', partial)
  await retryPost(context, { userId, postId: partial })
  await record('retried', partial)

  const image = { storageKey: `posts/${userId}/00000000-0000-4000-8000-000000000000.png`, mimeType: 'image/png' }
  const content = { text: RECORDED_TEXT, mediaItems: [image] }
  await record('prepared-ahead', await create(75, { content }))
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
  for (const [index, name] of ['import-applied', 'import-paused'].entries()) {
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
  const posts = context.database.connection.collection<{ _id: string }>('posts')
  const publishedOn = async (selectedPlatforms: Platform[], ageMs: number) => {
    const input = { content: { text: RECORDED_TEXT }, selectedPlatforms }
    const { data } = await createPost(context, { userId, input, source: 'api', idempotency: null })
    await context.startQueue.idle()
    await client.workflow.getHandle(publishPostWorkflowId(data.postId)).result()
    const completedAt = new Date(Date.now() - ageMs)
    await posts.updateOne({ _id: data.postId }, { $set: { 'platformStatuses.$[].completedAt': completedAt } })
    return data.postId
  }
  const start = async (name: string, taskQueue: TaskQueue = 'analytics') => {
    const options = { taskQueue, workflowId: name }
    return (await client.workflow.start(name, options)).firstExecutionRunId
  }
  /** Returns the id of a platform's first shard. The plan has the shards of all platforms in this order. */
  const toShardId = (run: string, platform: Platform, shardsPerPlatform: number) =>
    `${run}/${PLATFORMS.indexOf(platform) * shardsPerPlatform}`

  troubles.threads = [new PlatformError('rate_limited', 'Slow down', { certain: true, retryAfterMs: 4 * SECOND })]
  await start('collectAccountMetrics')
  await recordEnd('followers-in-shards', 'collectAccountMetrics')
  await recordHistory('followers-shard-after-a-pause', toShardId('collectAccountMetrics', 'threads', 1))

  const onBoth: Platform[] = ['mastodon', 'threads']
  const first = await publishedOn(onBoth, HOUR)
  for (const ageMs of [HOUR, 26 * HOUR]) await publishedOn(onBoth, ageMs)
  // One listing of a shard has at most 500 posts of an owner. The shard continues as new in its second listing.
  await storePosts(
    context,
    Array.from({ length: LISTED_TWICE }, () =>
      publishedPost({ userId, on: ['mastodon'], accountId: `mastodon-${userId}` }),
    ),
  )
  troubles.mastodon = [new PlatformError('transient', 'It has trouble', { certain: true })]
  troubles.threads = [null, new PlatformError('rate_limited', 'Slow down', { certain: true, retryAfterMs: HOUR })]
  await start('collectPostMetrics')
  await recordEnd('metrics-in-shards', 'collectPostMetrics')
  const shard = client.workflow.getHandle(toShardId('collectPostMetrics', 'mastodon', 2))
  const [firstEvent] = (await shard.fetchHistory()).events!
  const { firstExecutionRunId } = firstEvent!.workflowExecutionStartedEventAttributes!
  await recordHistory('metrics-shard-to-continue', shard.workflowId, firstExecutionRunId!)
  await recordHistory('metrics-shard-continued', shard.workflowId)
  await recordHistory('metrics-shard-paused', toShardId('collectPostMetrics', 'threads', 2))

  const scheduledAt = new Date(Date.now() + 10 * MINUTE).toISOString()
  const scheduled = { content: { text: RECORDED_TEXT }, selectedPlatforms: onBoth, scheduledAt }
  await createPost(context, { userId, input: scheduled, source: 'api', idempotency: null })
  await start('checkDuePosts', 'maintenance')
  await recordEnd('due-posts-checked', 'checkDuePosts')
  await start('downsampleSnapshots', 'maintenance')
  await recordEnd('snapshots-downsampled', 'downsampleSnapshots')

  await context.orchestrator.refreshMetrics({ userId, postId: first, platform: 'mastodon' }, 5 * SECOND)
  await recordEnd('metrics-refreshed', refreshWorkflowId(first, 'mastodon'))

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

async function recordPeople(userId: string): Promise<void> {
  const to = RECORDED_ADDRESS
  const words = codeMail('000000')
  await queueMail(context, { kind: 'code', userId: null, lifeMs: CODE_LIFE_MS, to, ...words })
  const [sent] = await context.database.connection.collection<{ _id: string }>('mails').find().toArray()
  await recordEnd('mail-sent', backgroundWorkflowId('sendMail', sent!._id))

  await registerPushDevice(context, { userId, token: RECORDED_TOKEN, platform: 'ios' })
  await context.notifications.insertOnce(connectionExpired({ userId, platform: 'mastodon', version: 1 }))
  const [told] = await context.notifications.listOf(userId, 1)
  await context.orchestrator.startWork('deliverPush', told!._id, { summary: 'A push message', fairnessKey: userId })
  await recordEnd('push-delivered', backgroundWorkflowId('deliverPush', told!._id))

  await context.database.transaction((session) => context.erasures.begin(userId, new Date(), session))
  await context.orchestrator.startWork('eraseAccount', userId, { summary: 'Erase an account', fairnessKey: userId })
  await recordWaiting('erasure-under-way', client.workflow.getHandle(backgroundWorkflowId('eraseAccount', userId)))
}

/** The processor's events are handed over one by one, as if its webhooks brought them. */
async function recordPayments(userId: string): Promise<void> {
  const { processor } = payments
  const heard = new Set<string>()
  const handleOf = (...what: Parameters<typeof backgroundWorkflowId>) =>
    client.workflow.getHandle(backgroundWorkflowId(...what))
  const watching = handleOf('subscription', userId)

  const hear = async (type: string, changes: Partial<PaymentEvent> = {}) => {
    const found = processor.events().find((event) => event.type === type && !heard.has(event.id))
    if (!found) throw new Error(`The processor has not reported ${type}`)
    heard.add(found.id)
    const payload = Buffer.from(JSON.stringify(found.body))
    const signature = signatureOf(payload, { secret: config.STRIPE_WEBHOOK_SECRETS })
    const event = await context.payments!.readEvent(payload, signature, new Date())
    await receivePaymentEvent(context, { ...event, ...changes })
    while ((await context.paymentEvents.find(found.id))?.state === 'waiting') await delay(100)
    return found.id
  }

  const { subscriptionId } = processor.subscribe({ userId, email: RECORDED_ADDRESS })
  await hear('checkout.session.completed')
  await hear('invoice.payment_succeeded')
  await recordWaiting('subscription-watched', watching)

  processor.cancel(subscriptionId)
  const asked = await hear('customer.subscription.updated', { userId: null, customerId: null, payloadSubscription: null })
  await recordWaiting('payment-routed', handleOf('routePaymentEvent', asked))
  processor.subscribe({ userId: 'of-another-service', email: RECORDED_ADDRESS })
  const nobodys = await hear('checkout.session.completed')
  await recordEnd('payment-of-nobody', backgroundWorkflowId('routePaymentEvent', nobodys))

  const options = { taskQueue: 'maintenance', workflowId: 'reconcileBilling' }
  await client.workflow.start('reconcileBilling', options)
  await recordEnd('billing-reconciled', options.workflowId)

  processor.end(subscriptionId)
  await hear('customer.subscription.deleted')
  await recordEnd('subscription-ended', watching.workflowId)
  await context.orchestrator.startWork('subscription', userId, { summary: SUBSCRIPTION_SUMMARY, fairnessKey: userId })
  await recordEnd('subscription-not-there', watching.workflowId)
}

/** Of one that then waits for long, over whatever is deployed meanwhile. */
async function recordWaiting(name: string, workflow: WorkflowHandle): Promise<void> {
  const isWaiting = async () =>
    (await workflow.fetchHistory()).events?.findLast(({ timerStartedEventAttributes: timer }) => timer) !== undefined
  while (!(await isWaiting())) await delay(100)
  await recordHistory(name, workflow.workflowId)
}

async function recordEnd(name: string, workflowId: string): Promise<void> {
  await client.workflow.getHandle(workflowId).result()
  await recordHistory(name, workflowId)
}

/** Of the latest run, unless one is named. */
async function recordHistory(name: string, workflowId: string, runId?: string): Promise<void> {
  const history = await client.workflow.getHandle(workflowId, runId).fetchHistory()
  // Worker identities and stacks name this machine, and nothing is decided by them.
  const json = historyToJSON(history)
    .replaceAll(/"\d+@[^"]*"/g, '"recorder"')
    .replaceAll(/("stackTrace": )"(?:[^"\\]|\\.)*"/g, '$1""')
  await writeFile(new URL(`${name}.json`, folder), `${json}\n`)
  process.stdout.write(`${name}: ${history.events?.length} events\n`)
}

async function startStorage() {
  return startObjectStorage({ program: await findObjectStorage(), logFile: devNull, ...STORAGE_KEYS })
}
