import { Schema, type ClientSession, type Connection } from 'mongoose'
import { PROCESSOR_STATES, type Billing } from '../../domain/billing/billing.ts'
import { getAllowance, ALLOWANCES, type Allowance, type AllowanceKind } from '../../domain/billing/plans.ts'
import {
  SUBSCRIPTION_PLANS,
  SUBSCRIPTION_STATUSES,
  type Limits,
  type Subscription,
  type SubscriptionPlan,
  type Usage,
} from '../../domain/billing/subscription.ts'
import type { NotificationPreferences } from '../../domain/users/notification-preferences.ts'
import { ROLES, normalizeEmail, type Role, type User } from '../../domain/users/user.ts'
import { SECOND } from '../../domain/shared/times.ts'
import { isDuplicateKey } from '../mongo-errors.ts'
import { nativeCollection } from '../shared/native-collection.ts'
import { anyOf, batchLoader } from '../shared/batching.ts'
import { nullable, required, schemaOptions, subdocumentOptions } from '../shared/schema.ts'
import { toTextPattern } from '../shared/text-pattern.ts'

const LIST_DEADLINE_MS = 4 * SECOND
/** Deadline for streaming all users, however slowly they are read. */
const WHOLE_LIST_DEADLINE_MS = 30 * SECOND
const NEWEST_FIRST = { createdAt: -1, _id: -1 } as const

interface UserQuery {
  page: number
  limit: number
  search?: string | undefined
}

/** The fields that admins change. */
export type UserChange = Partial<
  { 'subscription.plan': SubscriptionPlan } & { limits: Limits; isDisabled: boolean; role: Role }
>

/** The fields that follow from the payment processor's state. */
export type BillingChange = Partial<
  { [K in keyof Subscription as `subscription.${K}`]: Subscription[K] } & { usage: Usage; limits: Limits } & {
    [K in Exclude<keyof Billing, 'revision'> as `billing.${K}`]: Billing[K]
  }
>

/** The field with the processor's id by which users are listed. */
const BILLED_BY = { subscription: 'subscription.processorSubscriptionId', checkout: 'billing.checkoutId' } as const
const PROCESSOR_IDS = ['subscription.processorCustomerId', BILLED_BY.subscription]

const userSchema = new Schema<User>(
  {
    _id: required(String),
    email: required(String),
    name: required(String),
    role: { type: String, enum: ROLES, required: true },
    isDisabled: required(Boolean),
    passwordHash: nullable(String),
    auth: {
      provider: { type: String, enum: ['email', 'google'], required: true },
      subject: String,
    },
    avatar: nullable(String),
    timezone: required(String),
    holdSeconds: Number,
    tokenVersion: required(Number),
    subscription: {
      plan: { type: String, enum: SUBSCRIPTION_PLANS, required: true },
      status: { type: String, enum: SUBSCRIPTION_STATUSES, required: true },
      processorCustomerId: nullable(String),
      processorSubscriptionId: nullable(String),
      currentPeriodStart: nullable(Date),
      currentPeriodEnd: nullable(Date),
      cancelAtPeriodEnd: required(Boolean),
    },
    billing: {
      revision: required(Number),
      subscriptions: [
        {
          _id: false,
          id: String,
          customerId: String,
          createdAt: Date,
          newestEvent: { type: { _id: false, eventId: String, at: Date }, default: undefined },
          isFlagged: Boolean,
        },
      ],
      applied: nullable(
        new Schema<NonNullable<Billing['applied']>>(
          { subscriptionId: required(String), state: { type: String, enum: PROCESSOR_STATES, required: true } },
          subdocumentOptions,
        ),
      ),
      endedIds: [String],
      countedInvoiceIds: [String],
      customerIds: [String],
      checkoutId: nullable(String),
    },
    usage: {
      postsCreated: required(Number),
      captionGenerations: required(Number),
    },
    limits: {
      maxPosts: required(Number),
      maxCaptionGenerations: required(Number),
    },
    analyticsVersion: Number,
    notificationPreferences: Schema.Types.Mixed,
    createdAt: required(Date),
    lastLogin: nullable(Date),
  },
  schemaOptions,
)

userSchema.index({ email: 1 }, { unique: true })
userSchema.index({ 'auth.subject': 1 }, { unique: true, sparse: true })
userSchema.index({ createdAt: -1, _id: -1 })
// Only records with an id of the processor.
for (const id of PROCESSOR_IDS) {
  userSchema.index({ [id]: 1 }, { unique: true, partialFilterExpression: { [id]: { $gt: '' } } })
}
userSchema.index({ [BILLED_BY.checkout]: 1 }, { partialFilterExpression: { [BILLED_BY.checkout]: { $gt: '' } } })
userSchema.index({ role: 1 }, { partialFilterExpression: { role: 'admin' } })
// For the statistics of admins.
userSchema.index({ isDisabled: 1 }, { partialFilterExpression: { isDisabled: true } })
userSchema.index({ 'subscription.plan': 1 }, { partialFilterExpression: { 'subscription.plan': 'pro' } })

/** Stores user records. They contain the password hash: responses must go through a `present` function. */
export function createUserStore(connection: Connection) {
  const model = connection.model<User>('User', userSchema, 'users')

  const collection = nativeCollection<User>(connection, 'users')

  return {
    /** Reads a user. Concurrent reads share a query, because every request and delivery needs one. */
    findById: batchLoader<User>(
      (ids) =>
        collection()
          .find({ _id: anyOf(ids) })
          .toArray(),
      ({ _id }) => _id,
    ),

    findByEmail: (email: string): Promise<User | null> =>
      model
        .findOne({ email: normalizeEmail(email) })
        .lean<User>()
        .exec(),

    /** Finds a user by the identity provider's own id. */
    findBySubject: (subject: string): Promise<User | null> => collection().findOne({ 'auth.subject': subject }),

    /** @throws a duplicate key error when the email address or the provider's account is taken */
    async insert(user: User, session?: ClientSession): Promise<void> {
      await model.insertMany([user], { lean: true, ...(session && { session }) })
    },

    /**
     * Counts one post or caption generation against the user's allowance, if the allowance is not used up. `used` and `limit`
     * are the values after the call.
     */
    async takeAllowance(
      kind: AllowanceKind,
      userId: string,
      session?: ClientSession,
    ): Promise<Allowance & { taken: boolean }> {
      const options = { ...(session && { session }), projection: { usage: 1, limits: 1 } } as const
      const counted = await collection().findOneAndUpdate(toAllowanceFilter(kind, userId, 1), toUsageUpdate(kind, 1), {
        ...options,
        returnDocument: 'after',
      })
      const user = counted ?? (await collection().findOne({ _id: userId }, options))
      return { taken: counted !== null, ...(user ? getAllowance(kind, user) : { used: 0, limit: 0 }) }
    },

    /** Counts posts of several users. Returns false when one user has too little left; then the transaction must be aborted. */
    async takePostAllowances(counts: Map<string, number>, session: ClientSession): Promise<boolean> {
      const { matchedCount } = await collection().bulkWrite(
        [...counts].map(([userId, count]) => ({
          updateOne: { filter: toAllowanceFilter('posts', userId, count), update: toUsageUpdate('posts', count) },
        })),
        { session },
      )
      return matchedCount === counts.size
    },

    async setLastLogin(userId: string, at: Date): Promise<void> {
      await model.updateOne({ _id: userId }, { $set: { lastLogin: at } })
    },

    async setName(userId: string, name: string): Promise<void> {
      await model.updateOne({ _id: userId }, { $set: { name } })
    },

    /** The time zones of these users; users that do not exist are missing. */
    async findTimezones(userIds: string[]): Promise<Map<string, string>> {
      const users = await collection()
        .find({ _id: { $in: userIds } }, { projection: { timezone: 1 } })
        .toArray()
      return new Map(users.map(({ _id, timezone }) => [_id, timezone]))
    },

    async setTimezone(userId: string, timezone: string): Promise<void> {
      await model.updateOne({ _id: userId }, { $set: { timezone } })
    },

    async setHoldSeconds(userId: string, holdSeconds: number): Promise<void> {
      await model.updateOne({ _id: userId }, { $set: { holdSeconds } })
    },

    /** Sets the given channels and leaves the others. Returns the preferences after it; null when there is no such user. */
    async setNotificationPreferences(userId: string, change: NotificationPreferences) {
      const paths = Object.entries(change).flatMap(([kind, channels]) =>
        Object.entries(channels).map(
          ([channel, isOn]) => [`notificationPreferences.${kind}.${channel}`, isOn] as const,
        ),
      )
      const user =
        paths.length === 0
          ? await collection().findOne({ _id: userId })
          : await collection().findOneAndUpdate(
              { _id: userId },
              { $set: Object.fromEntries(paths) },
              { returnDocument: 'after' },
            )
      return user && (user.notificationPreferences ?? {})
    },

    /** Returns the previous avatar. */
    async replaceAvatar(userId: string, avatar: string): Promise<string | null> {
      const before = await collection().findOneAndUpdate(
        { _id: userId },
        { $set: { avatar } },
        { projection: { avatar: 1 }, returnDocument: 'before' },
      )
      return before?.avatar ?? null
    },

    /** The avatars of these users. */
    async findAvatars(userIds: string[]): Promise<string[]> {
      const users = collection().find({ _id: { $in: userIds } }, { projection: { avatar: 1 } })
      return (await users.toArray()).flatMap(({ avatar }) => (avatar === null ? [] : [avatar]))
    },

    /** Returns false when the password has changed since the user was read. */
    async replacePassword(
      { _id, passwordHash: currentHash }: Pick<User, '_id' | 'passwordHash'>,
      passwordHash: string,
      session: ClientSession,
    ): Promise<boolean> {
      const { matchedCount } = await model.updateOne(
        { _id, passwordHash: currentHash },
        { $set: { passwordHash } },
        { session },
      )
      return matchedCount === 1
    },

    /** Sets a password and ends every session and access token of the user. Returns false for an account without a password. */
    async resetPassword(userId: string, passwordHash: string, session: ClientSession): Promise<boolean> {
      const { matchedCount } = await model.updateOne(
        { _id: userId, 'auth.provider': 'email' },
        { $set: { passwordHash }, $inc: { tokenVersion: 1 } },
        { session },
      )
      return matchedCount === 1
    },

    /** Invalidates every access token of the user. */
    async raiseTokenVersion(userId: string): Promise<void> {
      await model.updateOne({ _id: userId }, { $inc: { tokenVersion: 1 } })
    },

    /** Invalidates cached analytics of the user in every process. Returns false when there is no such user. */
    async raiseAnalyticsVersion(userId: string, session?: ClientSession): Promise<boolean> {
      const { matchedCount } = await collection().updateOne(
        { _id: userId },
        { $inc: { analyticsVersion: 1 } },
        { ...(session && { session }) },
      )
      return matchedCount === 1
    },

    /** Returns the record before and after the change; null when there is no such user, or its record does not have these fields. */
    async change(
      userId: string,
      change: UserChange,
      session: ClientSession,
      condition: object = {},
    ): Promise<{ before: User; after: User } | null> {
      const before = await collection().findOneAndUpdate({ ...condition, _id: userId }, { $set: change }, { session })
      const after = before && (await collection().findOne({ _id: userId }, { session }))
      return before && after && { before, after }
    },

    /** Disables the user: logins, requests and sockets are refused from now on. */
    async disable(userId: string, session: ClientSession): Promise<void> {
      await collection().updateOne({ _id: userId }, { $set: { isDisabled: true } }, { session })
    },

    async remove(userId: string, session: ClientSession): Promise<void> {
      await collection().deleteOne({ _id: userId }, { session })
    },

    findByCustomer: (customerId: string): Promise<User | null> =>
      collection().findOne({ 'subscription.processorCustomerId': customerId }),

    /**
     * Changes the billing of a record. Returns false when its billing revision has changed since it was read.
     * @throws an error for which `isProcessorIdTaken` is true when another user has the customer or subscription
     */
    async changeBilling(
      userId: string,
      revision: number,
      change: BillingChange,
      session?: ClientSession,
    ): Promise<boolean> {
      const { matchedCount } = await collection().updateOne(
        { _id: userId, 'billing.revision': revision },
        { $set: { ...change, 'billing.revision': revision + 1 } },
        { ...(session && { session }) },
      )
      return matchedCount === 1
    },

    /** Users with a subscription or a checkout that may have become one, in the order of its id (`key`). */
    async listBilled(by: keyof typeof BILLED_BY, { after, limit }: { after: string; limit: number }) {
      const field = BILLED_BY[by]
      const billed = await collection()
        .find({ [field]: { $gt: after } }, { projection: { subscription: 1, 'billing.checkoutId': 1 } })
        .sort({ [field]: 1 })
        .limit(limit)
        .toArray()
      return billed.map(({ _id, subscription, billing }) => ({
        userId: _id,
        key: (by === 'subscription' ? subscription.processorSubscriptionId : billing.checkoutId)!,
      }))
    },

    /** The ids and timezones of all users, in the order of their ids. */
    listTimezones: ({
      after,
      limit,
    }: {
      after: string | null
      limit: number
    }): Promise<Pick<User, '_id' | 'timezone'>[]> =>
      collection()
        .find(after === null ? {} : { _id: { $gt: after } }, { projection: { timezone: 1 } })
        .sort({ _id: 1 })
        .limit(limit)
        .toArray(),

    /** The users with this post limit, as a stream. No index is used, because only operators call it. */
    allWithPostLimit: (maxPosts: number): AsyncIterable<Pick<User, '_id' | 'limits' | 'subscription'>> =>
      collection().find({ 'limits.maxPosts': maxPosts }, { projection: { limits: 1, 'subscription.plan': 1 } }),

    async listAdmins(): Promise<string[]> {
      const admins = collection().find({ role: 'admin', isDisabled: false }, { projection: { _id: 1 } })
      return (await admins.toArray()).map(({ _id }) => _id)
    },

    /** All users, newest first, as a stream. */
    all: (): AsyncIterable<User> =>
      collection().find({}, { sort: NEWEST_FIRST, maxTimeMS: WHOLE_LIST_DEADLINE_MS, batchSize: 500 }),

    /**
     * One page, newest first.
     * @param search text that the name or the address contains, ignoring case, or an id
     */
    async page({ page, limit, search }: UserQuery): Promise<{ users: User[]; total: number }> {
      const filter = search === undefined ? {} : toSearchFilter(search)
      const [users, total] = await Promise.all([
        collection()
          .find(filter, { sort: NEWEST_FIRST, skip: (page - 1) * limit, limit, maxTimeMS: LIST_DEADLINE_MS })
          .toArray(),
        search === undefined
          ? collection().estimatedDocumentCount({ maxTimeMS: LIST_DEADLINE_MS })
          : collection().countDocuments(filter, { maxTimeMS: LIST_DEADLINE_MS }),
      ])
      return { users, total }
    },
  }
}

export function isProcessorIdTaken(error: unknown): boolean {
  return isDuplicateKey(error, PROCESSOR_IDS)
}

export type UserStore = ReturnType<typeof createUserStore>

function toSearchFilter(search: string) {
  const contains = { $regex: toTextPattern(search), $options: 'i' }
  return { $or: [{ email: contains }, { name: contains }, { _id: search }] }
}

function toAllowanceFilter(kind: AllowanceKind, userId: string, count: number) {
  const { usage, limit } = ALLOWANCES[kind]
  // guard: allowance
  return { _id: userId, $expr: { $lte: [{ $add: [`$usage.${usage}`, count] }, `$limits.${limit}`] } }
}

function toUsageUpdate(kind: AllowanceKind, count: number) {
  return { $inc: { [`usage.${ALLOWANCES[kind].usage}`]: count } }
}
