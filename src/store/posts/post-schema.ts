import { Schema } from 'mongoose'
import { PLATFORMS } from '../../domain/shared/platforms.ts'
import { DELIVERY_STATUSES, POST_STATUSES, type Post } from '../../domain/posts/post.ts'
import { TIMELINE_RESULTS, TIMELINE_TYPES, type TimelineEvent } from '../../domain/posts/timeline.ts'
import { schemaOptions } from '../shared/schema.ts'

export type StoredPost = Post & { timeline: TimelineEvent[] }

const nullable = <T>(type: T) => ({ type, default: null })
const subdocument = { ...schemaOptions, _id: false } as const

const mediaItemSchema = new Schema(
  {
    storageKey: { type: String, required: true },
    storageUrl: { type: String, required: true },
    mimeType: { type: String, required: true },
    originalFilename: String,
    sizeBytes: Number,
    width: Number,
    height: Number,
    duration: Number,
    altText: String,
  },
  subdocument,
)

const contentSchema = new Schema(
  { text: String, mediaItems: { type: [mediaItemSchema], default: undefined } },
  subdocument,
)

const deliverySchema = new Schema(
  {
    key: nullable(String),
    startedAt: nullable(Date),
    round: { type: Number, required: true },
    attempt: { type: Number, required: true },
    accountId: nullable(String),
    contentVersion: nullable(Number),
    handles: { type: Schema.Types.Mixed, default: {} },
    leaseUntil: nullable(Date),
    outcome: { type: String, enum: ['none', 'accepted', 'refused', 'deferred', 'unknown'], required: true },
    doubted: { type: Boolean, required: true },
    answered: Boolean,
    repeatAllowed: Boolean,
    tries: { type: Number, required: true },
    reconcileTries: { type: Number, required: true },
    nextAttemptAt: nullable(Date),
  },
  subdocument,
)

const platformReasonSchema = new Schema({ code: nullable(String), text: nullable(String) }, subdocument)

const platformStatusSchema = new Schema(
  {
    platform: { type: String, enum: PLATFORMS, required: true },
    status: { type: String, enum: DELIVERY_STATUSES, required: true },
    platformPostId: nullable(String),
    platformPostUrl: nullable(String),
    error: nullable(String),
    errorCode: nullable(String),
    platformReason: nullable(platformReasonSchema),
    attemptCount: { type: Number, required: true },
    lastAttemptAt: nullable(Date),
    completedAt: nullable(Date),
    lastAnalyticsFetch: nullable(Date),
    metricsSlot: Date,
    delivery: { type: deliverySchema, required: true },
  },
  subdocument,
)

const firstAnswerSchema = new Schema(
  {
    status: { type: String, enum: POST_STATUSES, required: true },
    scheduledAt: nullable(Date),
    warnings: [new Schema({ path: String, code: String, message: String, platform: String }, subdocument)],
  },
  subdocument,
)

const timelineEventSchema = new Schema<TimelineEvent>(
  {
    at: { type: Date, required: true },
    type: { type: String, enum: TIMELINE_TYPES, required: true },
    status: { type: String, enum: POST_STATUSES },
    platform: { type: String, enum: PLATFORMS },
    result: { type: String, enum: TIMELINE_RESULTS },
    code: String,
    platformReason: { type: platformReasonSchema, default: undefined },
    round: Number,
    attempt: Number,
    until: Date,
    runId: String,
  },
  subdocument,
)

export const METRICS_INDEX = {
  userId: 1,
  'platformStatuses.completedAt': 1,
  'platformStatuses.metricsSlot': 1,
} as const

/** What the database keeps of a post. Its timeline is read on its own. */
export const postSchema = new Schema<StoredPost>(
  {
    _id: { type: String, required: true },
    userId: { type: String, required: true },
    content: { type: contentSchema, required: true },
    platformSpecificContent: { type: Schema.Types.Mixed, default: {} },
    contentVersion: { type: Number, required: true },
    selectedPlatforms: { type: [String], enum: PLATFORMS, required: true },
    scheduledAt: nullable(Date),
    dueAt: nullable(Date),
    timezone: { type: String, required: true },
    status: { type: String, enum: POST_STATUSES, required: true },
    platformStatuses: { type: [platformStatusSchema], required: true },
    correlationId: nullable(String),
    requestHash: nullable(String),
    firstAnswer: { type: firstAnswerSchema, default: undefined },
    metadata: { source: { type: String, enum: ['web', 'api'], required: true } },
    allowanceMovedTo: { type: String, default: undefined },
    startPending: { type: Boolean, required: true },
    publishedKeys: { type: [String], default: undefined },
    revision: { type: Number, required: true },
    createdAt: { type: Date, required: true },
    updatedAt: { type: Date, required: true },
    timeline: { type: [timelineEventSchema], select: false },
  },
  { ...schemaOptions, timestamps: false },
)

// guard: unique idempotency key
postSchema.index(
  { userId: 1, correlationId: 1 },
  { unique: true, partialFilterExpression: { correlationId: { $type: 'string' } } },
)
postSchema.index({ userId: 1, createdAt: -1, _id: -1 })
postSchema.index({ userId: 1, scheduledAt: -1, _id: -1 })
postSchema.index({ userId: 1, status: 1, createdAt: -1, _id: -1 })
postSchema.index({ status: 1, dueAt: 1 })
// Immediate posts are not in it, and cost it nothing.
postSchema.index({ scheduledAt: -1 }, { partialFilterExpression: { scheduledAt: { $gt: new Date(0) } } })
postSchema.index({ startPending: 1, updatedAt: 1 }, { partialFilterExpression: { startPending: true } })
// An effect belongs to one post: what two posts could be taken for goes to the first that says so (design section 6).
postSchema.index({ publishedKeys: 1 }, { unique: true, partialFilterExpression: { publishedKeys: { $exists: true } } })
// What is out, by owner, age and the last slot of its metrics. Posts that are not out cost it nothing.
postSchema.index(METRICS_INDEX, { partialFilterExpression: { publishedKeys: { $exists: true } } })
