import { Schema } from 'mongoose'
import { PLATFORMS } from '../../domain/shared/platforms.ts'
import type { PlatformAccounts } from './platform-account-records.ts'
import { nullable, required, schemaOptions, subdocumentOptions } from '../shared/schema.ts'

const optional = <T>(type: T) => ({ type, default: undefined })

const profileSchema = new Schema(
  { displayName: String, handle: String, avatar: nullable(String), description: String },
  subdocumentOptions,
)

const healthSchema = new Schema(
  {
    status: { type: String, enum: ['active', 'expired', 'error'], required: true },
    lastError: nullable(String),
    checkedAt: nullable(Date),
  },
  subdocumentOptions,
)

const authSchema = new Schema(
  {
    accessToken: required(String),
    tokenSecret: String,
    refreshToken: nullable(String),
    expiresAt: nullable(Date),
    endsAt: nullable(Date),
  },
  subdocumentOptions,
)

const leaseSchema = new Schema(
  {
    version: required(Number),
    holder: nullable(String),
    until: required(Date),
  },
  subdocumentOptions,
)

const accountSchema = new Schema(
  {
    connected: required(Boolean),
    version: required(Number),
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
  subdocumentOptions,
)

export const accountsSchema = new Schema<PlatformAccounts>(
  {
    _id: required(String),
    userId: required(String),
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
