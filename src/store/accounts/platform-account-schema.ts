import { Schema } from 'mongoose'
import { PLATFORMS } from '../../domain/shared/platforms.ts'
import type { PlatformAccounts } from './platform-accounts.ts'
import { schemaOptions } from '../shared/schema.ts'

const subdocument = { ...schemaOptions, _id: false } as const
const optional = <T>(type: T) => ({ type, default: undefined })

const profileSchema = new Schema(
  { displayName: String, handle: String, avatar: { type: String, default: null }, description: String },
  subdocument,
)

const healthSchema = new Schema(
  {
    status: { type: String, enum: ['active', 'expired', 'error'], required: true },
    lastError: { type: String, default: null },
    checkedAt: { type: Date, default: null },
  },
  subdocument,
)

const authSchema = new Schema(
  {
    accessToken: { type: String, required: true },
    tokenSecret: String,
    refreshToken: { type: String, default: null },
    expiresAt: { type: Date, default: null },
    endsAt: { type: Date, default: null },
  },
  subdocument,
)

const leaseSchema = new Schema(
  {
    version: { type: Number, required: true },
    holder: { type: String, default: null },
    until: { type: Date, required: true },
  },
  subdocument,
)

const accountSchema = new Schema(
  {
    connected: { type: Boolean, required: true },
    version: { type: Number, required: true },
    accountId: String,
    handle: String,
    serviceUrl: String,
    profile: optional(profileSchema),
    health: optional(healthSchema),
    connectedAt: Date,
    auth: optional(authSchema),
    refreshLease: optional(leaseSchema),
    endings: { type: [Date], default: undefined },
  },
  subdocument,
)

export const accountsSchema = new Schema<PlatformAccounts>(
  {
    _id: { type: String, required: true },
    userId: { type: String, required: true },
    ...Object.fromEntries(PLATFORMS.map((platform) => [platform, optional(accountSchema)])),
  },
  { ...schemaOptions, timestamps: false },
)

accountsSchema.index({ userId: 1 }, { unique: true })
for (const platform of PLATFORMS) {
  accountsSchema.index(
    { [`${platform}.accountId`]: 1 },
    { unique: true, partialFilterExpression: { [`${platform}.accountId`]: { $type: 'string' } } },
  )
}
