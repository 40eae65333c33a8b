import type { FastifyBaseLogger } from 'fastify'
import type { Context } from '../../context.ts'
import { presentEvent } from '../../domain/events/events.ts'
import type { AuditEntry } from '../../domain/users/audit.ts'
import { FOLDERS } from '../../domain/media/storage-keys.ts'
import type { User } from '../../domain/users/user.ts'
import { presentDevice, presentRecord } from '../auth/present.ts'
import { presentGroup } from '../groups/present.ts'
import { presentImport, presentImportRow } from '../imports/present.ts'
import { presentApiKey } from '../keys/present.ts'
import { resolveAllChannels } from '../../domain/users/notification-preferences.ts'
import { presentNotification } from '../notifications/present.ts'
import { presentSlots } from '../slots/present.ts'
import { presentPaymentEvent } from '../payments/present.ts'
import { presentDefaults, presentOwnAccount } from '../platforms/present.ts'
import { presentPost } from '../posts/present.ts'
import { presentDelivery, presentWebhook } from '../webhooks/present.ts'
import type { DeadLetter } from '../../store/analytics/dead-letters.ts'
import type { AccountSnapshot, PostSnapshot } from '../../store/analytics/snapshots.ts'
import { presentAll as presentRecords, presentEach as presentStream } from '../shared/odd-records.ts'

const PAGE = 500

/**
 * Collects all stored data of a user in the formats of the routes. Long lists are async iterables that are read while the client
 * downloads. Secrets and data about other people, such as the admin who changed the plan, are left out.
 */
export async function exportData(
  context: Context,
  user: User,
  { sessionId, log }: { sessionId: string; log: FastifyBaseLogger },
) {
  const { _id: userId } = user
  const now = context.clock.now()
  const accounts = await context.accounts.listConnected(userId)
  const presentAll = <T>(records: readonly T[], present: (record: T) => object) => presentRecords(records, present, log)
  const presentEach = <T>(records: AsyncIterable<T>, present: (record: T) => object) =>
    presentStream(records, present, log)
  return {
    exportedAt: now.toISOString(),
    user: presentRecord(user),
    platforms: presentDefaults(accounts, now, log),
    accounts: presentAll(accounts, (account) => presentOwnAccount(account, now)),
    groups: presentAll(await context.groups.listOf(userId), presentGroup),
    slots: presentSlots(await context.slots.find(userId)).slots,
    posts: presentEach(context.posts.allOf(userId), presentPost),
    imports: presentAll(await context.imports.listOf(userId), presentImport),
    importRows: presentEach(context.imports.allRowsOf(userId), ({ importId, ...row }) => ({
      importId,
      ...presentImportRow({ importId, ...row }),
    })),
    postSnapshots: presentEach(context.snapshots.allOf(userId), withoutOwner<PostSnapshot>),
    accountSnapshots: presentEach(context.snapshots.allFollowersOf(userId), withoutOwner<AccountSnapshot>),
    missedMetrics: presentEach(context.deadLetters.allOf(userId), withoutOwner<DeadLetter>),
    notifications: presentEach(context.notifications.allOf(userId), presentNotification),
    notificationPreferences: resolveAllChannels(user.notificationPreferences),
    events: presentEach(context.events.allOf(userId), presentEvent),
    media: listFiles(context, userId),
    sessions: presentAll(await context.sessions.listOf(userId, now), (session) => presentDevice(session, sessionId)),
    apiKeys: presentAll(await context.apiKeys.listOf(userId), presentApiKey),
    webhooks: presentAll(await context.webhooks.listOf(userId), (webhook) => presentWebhook(webhook, now)),
    webhookDeliveries: presentEach(context.webhookDeliveries.allOf(userId), presentDelivery),
    devices: await listPushDevices(context, userId),
    mails: presentEach(context.mails.allOf(userId), ({ kind, state, createdAt }) => ({ kind, state, createdAt })),
    payments: presentEach(context.paymentEvents.allOf(userId), presentPaymentEvent),
    changesByAdmins: presentEach(context.audit.streamBySubject(userId), presentAdminChange),
  }
}

/** Lists the devices for push messages without their tokens, which are secrets. */
async function listPushDevices({ pushTokens }: Context, userId: string) {
  const devices = await pushTokens.listOf(userId)
  return devices.map(({ platform, createdAt, lastSeen }) => ({ platform, createdAt, lastSeen }))
}

async function* listFiles({ storage }: Context, userId: string) {
  for (const folder of [FOLDERS.uploads, FOLDERS.avatars]) {
    for (let after: string | null = null; ;) {
      const listed: Awaited<ReturnType<typeof storage.list>> = await storage.list(`${folder}${userId}/`, {
        after,
        limit: PAGE,
      })
      for (const { key, storedAt } of listed) yield { storageKey: key, storageUrl: storage.publicUrl(key), storedAt }
      if (listed.length < PAGE) break
      after = listed.at(-1)!.key
    }
  }
}

function withoutOwner<T extends { _id: string; userId: string; removeAt?: Date }>(record: T) {
  const { _id, userId: _userId, removeAt: _removeAt, ...shown } = record
  return shown
}

function presentAdminChange({ at, action, before, after }: AuditEntry) {
  return { at, action, before, after }
}
