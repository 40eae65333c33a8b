import { MockActivityEnvironment } from '@temporalio/testing'
import { DefaultLogger } from '@temporalio/worker'
import { createEraseAccountActivities } from '../../../src/activities/users/erase-account.ts'
import { sealSecrets } from '../../../src/commands/accounts/account-secrets.ts'
import { createGroup } from '../../../src/commands/accounts/create-group.ts'
import { queueMail } from '../../../src/commands/notifications/queue-mail.ts'
import type { Context } from '../../../src/context.ts'
import { deriveMetrics, NO_COUNTS } from '../../../src/domain/analytics/analytics.ts'
import { accept } from '../../../src/domain/posts/delivery-moves.ts'
import { HOUR } from '../../../src/domain/shared/times.ts'
import type { PaymentEvent } from '../../../src/domain/billing/payment-events.ts'
import type { User } from '../../../src/domain/users/user.ts'
import { hashKey } from '../../../src/store/shared/rate-limits.ts'
import { newId } from '../../../src/store/shared/schema.ts'
import { signIn, type SignedIn } from '../../support/api.ts'
import { planTestImport } from '../../support/imports.ts'
import { createTestKey } from '../../support/api-keys.ts'
import { storeWebhook } from '../../support/webhook-records.ts'
import { CONNECT_OPTIONS } from '../../support/published.ts'
import { storeNotifications } from '../../support/notifications.ts'
import { buildPost } from '../../support/posts.ts'
import { allKeys, recordsByCollection } from '../../support/traces.ts'
import type { Secrets } from './world.ts'

/** Creates a user with data in every collection and every folder of object storage. */
export async function userWithEverything(
  context: Context,
  login: Secrets,
  changes: Partial<User> = {},
): Promise<SignedIn> {
  const who = await signIn(context, changes)
  const { _id: userId, email } = who.user
  const inAnHour = new Date(Date.now() + HOUR)
  const posts = [
    buildPost({ userId, scheduledAt: inAnHour, content: { text: email, mediaItems: [] } }, new Date()),
    buildPost({ userId, draft: true }, new Date()),
    buildPost({ userId }, new Date()),
  ]
  const actor = { id: userId, requestId: null, ipAddress: '192.0.2.1' }
  await context.database.transaction(async (session) => {
    await context.posts.insert(posts, session)
    await context.audit.insert(entryOf(actor.id, userId, actor.ipAddress), session)
  })
  const published = { platformPostId: newId(), platformPostUrl: 'https://bluesky.example/1' }
  await context.posts.transition(posts[2]!, accept('bluesky', published))
  await storeNotifications(context, userId, 2)
  await queueMail(context, { kind: 'code', userId, lifeMs: HOUR, to: email, ...WORDS })
  const { accounts } = await connect(context, userId, login)
  const fields = { name: email, color: '#112233', accountIds: [accounts[0]!._id] }
  await createGroup(context, userId, fields)
  await context.connectAttempts.insert({
    _id: newId(),
    userId,
    sessionId: 'session',
    platform: 'mastodon',
    secrets: 'sealed',
    bindingHash: null,
    lookupHash: newId(),
    expiresAt: inAnHour,
    consumedAt: null,
  })
  const [_id, key] = [newId(), context.oneTimeCodes.addressKey(email)]
  await context.pushTokens.register({ _id, userId, platform: 'web', sealedToken: 'sealed' })
  await createTestKey(context, who)
  await planTestImport(context, userId, [{ content: { text: email }, selectedPlatforms: ['bluesky'], status: 'DRAFT' }])
  await storeWebhook(context, userId)
  await context.paymentEvents.insertOrRead(eventOf(userId), new Date())
  await storeSnapshots(context, userId, posts[0]!._id)
  await context.passwordResets.add(key, userId, { hash: 'hash', expiresAt: inAnHour })
  await context.addressCodes.put(key, { codeHash: 'hash', expiresAt: inAnHour, sender: '192.0.2.1' })
  await context.limits.captions.take(userId)
  await context.limits.otp.take(email)
  const stranger = { email, ipAddress: '192.0.2.1', device: null, isKnownNetwork: false }
  await context.loginThrottle.attempt(stranger, async () => null)
  await context.uploads.insert({
    ...{ _id: `posts/${userId}/asked.png`, userId, bytes: 1, maxBytes: 1, isSized: true },
  })
  for (const folder of ['posts', 'copies', 'avatars', 'removed/posts', 'removed/avatars']) {
    await upload(context, `${folder}/${userId}/file.png`)
  }
  return who
}

async function storeSnapshots(context: Context, userId: string, postId: string): Promise<void> {
  const [takenAt, platform] = [new Date(), 'bluesky' as const]
  const source = { userId, platform, slot: takenAt, takenAt }
  await context.database.transaction(async (session) => {
    const counts = { ...NO_COUNTS, ...deriveMetrics(NO_COUNTS, null), followerCountAtSnapshot: null }
    await context.snapshots.save(
      [{ ...source, postId, target: null, accountId: 'a', completedAt: takenAt, ...counts }],
      session,
    )
    await context.snapshots.saveFollowers({ ...source, accountId: 'a', isOnly: true, followers: 1 }, session)
  })
  await context.deadLetters.add(
    [{ type: 'post', postId, userId, platform, accountId: null }],
    'transient: No answer',
    takenAt,
  )
}

export function connect({ accounts, cipher }: Context, userId: string, login: Secrets) {
  const seal = (version: number) => ({
    platformId: login.accountId,
    handle: login.handle,
    server: login.serviceUrl ?? null,
    profile: { displayName: 'Alice', handle: login.handle, avatar: null },
    auth: sealSecrets(cipher, { userId, platform: 'bluesky', version }, login),
  })
  return accounts.connect(userId, { platform: 'bluesky', seal }, CONNECT_OPTIONS)
}

export const upload = ({ storage }: Pick<Context, 'storage'>, key: string) =>
  storage.put({ key, body: Buffer.from('bytes'), contentType: 'image/png' })

/** Returns the collections, and `storage`, that contain any of these words or their hashes. */
export async function traces(context: Context, ...words: string[]): Promise<string[]> {
  const needles = [...words, ...words.map(hashKey), ...words.map(context.oneTimeCodes.addressKey)]
  const names = (text: string) => needles.some((needle) => text.includes(needle))
  const collections = await recordsByCollection(context)
  const found = collections.filter(({ records }) => records.some((record) => names(JSON.stringify(record))))
  const keys = await allKeys(context)
  return [...found.map(({ name }) => name), ...(keys.some(names) ? ['storage'] : [])].toSorted()
}

/** Runs the activities like the workflow, without its waits. */
export function eraser(deps: Context) {
  const activities = createEraseAccountActivities(deps)
  const inActivity = <A extends unknown[], R>(work: (...args: A) => Promise<R>, ...args: A): Promise<R> =>
    new MockActivityEnvironment({}, QUIET).run(work, ...args)

  const begin = (userId: string) => inActivity(activities.beginErasure, userId)
  return {
    begin,
    /** @param attempts how often a failing step is tried */
    async round(userId: string, attempts = 1): Promise<void> {
      const plan = await begin(userId)
      for (const step of plan?.steps ?? []) await tryStep(userId, step, attempts)
    },
    close: (userId: string) => inActivity(activities.closeErasure, userId),
  }

  async function tryStep(userId: string, step: string, attempts: number): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await new MockActivityEnvironment({ attempt }, QUIET).run(activities.runErasureStep, userId, step)
      } catch (error) {
        if (attempt >= attempts) throw error
      }
    }
  }
}

/** These tests are about failing steps. */
const QUIET = { logger: new DefaultLogger('ERROR') }
const WORDS = { subject: 'Subject', text: 'Words', html: 'Words' }

function eventOf(userId: string): PaymentEvent {
  return {
    id: newId(),
    type: 'customer.subscription.updated',
    createdAt: new Date(),
    userId,
    customerId: 'cus_1',
    subscriptionId: 'sub_1',
    invoiceId: null,
    payloadSubscription: null,
    payloadInvoice: null,
  }
}

function entryOf(actorId: string, subjectId: string, ipAddress: string) {
  return {
    _id: newId(),
    at: new Date(),
    actorId,
    action: 'update-activity' as const,
    subjectId,
    before: { isDisabled: true },
    after: { isDisabled: false },
    requestId: null,
    ipAddress,
  }
}
