import { Schema, type ClientSession, type Connection } from 'mongoose'
import type { Allowance } from '../domain/plans.ts'
import {
  ROLES,
  SUBSCRIPTION_PLANS,
  SUBSCRIPTION_STATUSES,
  normalizeEmail,
  type Role,
  type User,
} from '../domain/user.ts'
import { SECOND } from '../domain/times.ts'
import { driverCollection } from './driver.ts'
import { anyOf, createBatchedRead } from './line.ts'
import { schemaOptions } from './schema-options.ts'

const LIST_DEADLINE_MS = 5 * SECOND

const nullable = <T>(type: T) => ({ type, default: null })
const required = <T>(type: T) => ({ type, required: true }) as const

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
    },
    avatar: nullable(String),
    timezone: required(String),
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
    usage: {
      postsCreated: required(Number),
      captionGenerations: required(Number),
    },
    limits: {
      maxPosts: required(Number),
      maxCaptionGenerations: required(Number),
    },
    createdAt: required(Date),
    lastLogin: nullable(Date),
  },
  schemaOptions,
)

userSchema.index({ email: 1 }, { unique: true })
userSchema.index({ createdAt: -1, _id: -1 })

/** User records. Whoever reads one holds the password hash: what leaves the process goes through a `present` function. */
export function createUserStore(connection: Connection) {
  const model = connection.model<User>('User', userSchema, 'users')

  const collection = driverCollection<User>(connection, 'users')

  return {
    /** Every request and every delivery asks: those that come at about the same time are read together. */
    findById: createBatchedRead<User>(
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

    /** @throws a duplicate key error when the address is taken */
    async insert(user: User): Promise<void> {
      await model.insertMany([user], { lean: true })
    },

    /**
     * Counts one post against the allowance stored on the user's record, if it is not used up (invariant I4).
     * `used` and `limit` are the figures after the call.
     */
    async takePostAllowance(userId: string, session: ClientSession): Promise<Allowance & { taken: boolean }> {
      const shown = { session, projection: { usage: 1, limits: 1 } } as const
      const counted = await collection().findOneAndUpdate(withRoomFor(userId, 1), countPosts(1), {
        ...shown,
        returnDocument: 'after',
      })
      const user = counted ?? (await collection().findOne({ _id: userId }, shown))
      return {
        taken: counted !== null,
        used: user?.usage.postsCreated ?? 0,
        limit: user?.limits.maxPosts ?? 0,
      }
    },

    /** Counts so many posts of each user; false when one of them has too little left, and then the transaction must end. */
    async takePostAllowances(counts: Map<string, number>, session: ClientSession): Promise<boolean> {
      const { matchedCount } = await collection().bulkWrite(
        [...counts].map(([userId, count]) => ({
          updateOne: { filter: withRoomFor(userId, count), update: countPosts(count) },
        })),
        { session },
      )
      return matchedCount === counts.size
    },

    async setLastLogin(userId: string, at: Date): Promise<void> {
      await model.updateOne({ _id: userId }, { $set: { lastLogin: at } })
    },

    /** Makes every access token of the user invalid. */
    async raiseTokenVersion(userId: string): Promise<void> {
      await model.updateOne({ _id: userId }, { $inc: { tokenVersion: 1 } })
    },

    /** False when there is no such user. */
    async setRole(email: string, role: Role): Promise<boolean> {
      const { matchedCount } = await model.updateOne({ email: normalizeEmail(email) }, { $set: { role } })
      return matchedCount === 1
    },

    /** Newest first. */
    list: (): Promise<User[]> =>
      model.find({}).sort({ createdAt: -1, _id: -1 }).maxTimeMS(LIST_DEADLINE_MS).lean<User[]>().exec(),
  }
}

export type UserStore = ReturnType<typeof createUserStore>

function withRoomFor(userId: string, posts: number) {
  return { _id: userId, $expr: { $lte: [{ $add: ['$usage.postsCreated', posts] }, '$limits.maxPosts'] } }
}

function countPosts(posts: number) {
  return { $inc: { 'usage.postsCreated': posts } }
}
