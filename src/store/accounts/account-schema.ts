import { Schema } from 'mongoose'
import { PLATFORMS } from '../../domain/shared/platforms.ts'
import { nullable, required, schemaOptions, subdocumentOptions } from '../shared/schema.ts'
import type { Account } from './account-records.ts'

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

export const accountSchema = new Schema<Account>(
  {
    _id: required(String),
    userId: required(String),
    platform: { type: String, enum: PLATFORMS, required: true },
    connected: required(Boolean),
    version: required(Number),
    isDefault: required(Boolean),
    label: optional(String),
    platformId: optional(String),
    server: optional(String),
    handle: optional(String),
    profile: optional(profileSchema),
    health: optional(healthSchema),
    connectedAt: optional(Date),
    companionOf: optional(String),
    auth: optional(authSchema),
    refreshLease: optional(leaseSchema),
    followersDueAt: optional(Date),
    exclusiveId: optional(String),
    endings: { type: [Date], default: undefined },
  },
  { ...schemaOptions, timestamps: false },
)

accountSchema.index({ userId: 1, platform: 1, version: 1 }, { unique: true })
accountSchema.index({ userId: 1, platform: 1 }, { unique: true, partialFilterExpression: { isDefault: true } })
accountSchema.index({ exclusiveId: 1 }, { unique: true, partialFilterExpression: { exclusiveId: { $type: 'string' } } })
accountSchema.index({ platform: 1, server: 1, followersDueAt: 1 }, { partialFilterExpression: { connected: true } })
accountSchema.index({ platformId: 1 }, { partialFilterExpression: { platformId: { $type: 'string' } } })
