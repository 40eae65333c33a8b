import { Schema } from 'mongoose'
import { EVENT_TYPES } from '../../domain/events/events.ts'
import type { NotifiedEvent } from '../../domain/notifications/post-notifications.ts'
import { PLATFORMS } from '../../domain/shared/platforms.ts'
import {
  DELIVERY_STATUSES,
  LATE_ACTIONS,
  POST_CLIENTS,
  POST_SOURCES,
  POST_STATUSES,
  UNSUPPORTED_POLICIES,
  type IfLate,
  type Post,
} from '../../domain/posts/post.ts'
import { TIMELINE_RESULTS, TIMELINE_TYPES, type TimelineEvent } from '../../domain/posts/timeline.ts'
import type { nativeCollection } from '../shared/native-collection.ts'
import { nullable, required, schemaOptions, subdocumentOptions } from '../shared/schema.ts'

export interface StoredPost extends Post {
  timeline: TimelineEvent[]
  /** Events of the post's changes that are not in the feed yet, with their notifications. */
  pendingEvents: NotifiedEvent[]
}

export type PostCollection = ReturnType<typeof nativeCollection<StoredPost>>

/** The projection of a post without what is read separately. */
export const WITHOUT_LOGS = { projection: { timeline: 0, pendingEvents: 0 } } as const

const mediaItemSchema = new Schema(
  {
    storageKey: required(String),
    storageUrl: required(String),
    mimeType: required(String),
    originalFilename: String,
    sizeBytes: Number,
    width: Number,
    height: Number,
    duration: Number,
    altText: String,
  },
  subdocumentOptions,
)

const segmentFields = { text: String, mediaItems: { type: [mediaItemSchema], default: undefined } }

const contentSchema = new Schema(
  {
    ...segmentFields,
    segments: { type: [new Schema(segmentFields, subdocumentOptions)], default: undefined },
    firstComment: String,
    onUnsupported: { type: String, enum: UNSUPPORTED_POLICIES },
    options: { type: Schema.Types.Mixed, default: undefined },
    link: { type: Schema.Types.Mixed, default: undefined },
  },
  subdocumentOptions,
)

const outageSchema = new Schema(
  { server: required(String), since: required(Date), at: required(Date) },
  subdocumentOptions,
)

const deliverySchema = new Schema(
  {
    key: nullable(String),
    startedAt: nullable(Date),
    dueAt: nullable(Date),
    round: required(Number),
    attempt: required(Number),
    accountId: nullable(String),
    contentVersion: nullable(Number),
    handles: { type: Schema.Types.Mixed, default: {} },
    leaseUntil: nullable(Date),
    outcome: { type: String, enum: ['none', 'accepted', 'refused', 'deferred', 'unknown'], required: true },
    hadUnknownOutcome: required(Boolean),
    answered: Boolean,
    unansweredAt: Date,
    restoredAt: Date,
    repeatAllowed: Boolean,
    tries: required(Number),
    reconcileTries: required(Number),
    nextAttemptAt: nullable(Date),
    turnDueAt: Date,
    outage: nullable(outageSchema),
  },
  subdocumentOptions,
)

const platformReasonSchema = new Schema({ code: nullable(String), text: nullable(String) }, subdocumentOptions)

const partSchema = new Schema(
  {
    platformPostId: required(String),
    platformPostUrl: required(String),
    warning: { type: String, default: undefined },
    completedAt: required(Date),
  },
  subdocumentOptions,
)

const platformStatusSchema = new Schema(
  {
    platform: { type: String, enum: PLATFORMS, required: true },
    target: { type: String, default: undefined },
    accountId: { type: String, default: undefined },
    accountName: { type: String, default: undefined },
    server: { type: String, default: undefined },
    status: { type: String, enum: DELIVERY_STATUSES, required: true },
    platformPostId: nullable(String),
    platformPostUrl: nullable(String),
    warning: { type: String, default: undefined },
    error: nullable(String),
    errorCode: nullable(String),
    platformReason: nullable(platformReasonSchema),
    parts: { type: [partSchema], default: undefined },
    comment: { type: Schema.Types.Mixed, default: undefined },
    removal: { type: Schema.Types.Mixed, default: undefined },
    replacedBy: { type: String, default: undefined },
    revisions: { type: Schema.Types.Mixed, default: undefined },
    attemptCount: required(Number),
    lastAttemptAt: nullable(Date),
    completedAt: nullable(Date),
    lastAnalyticsFetch: nullable(Date),
    metricsDueAt: Date,
    endsAt: { type: Date, default: undefined },
    delivery: required(deliverySchema),
  },
  subdocumentOptions,
)

const groupSchema = new Schema(
  { id: required(String), name: required(String), accountIds: [String] },
  subdocumentOptions,
)

const warningSchema = new Schema(
  { path: String, code: String, message: String, platform: String, accountId: String, nextFreeAt: String },
  subdocumentOptions,
)

const firstResponseSchema = new Schema(
  {
    status: { type: String, enum: POST_STATUSES, required: true },
    scheduledAt: nullable(Date),
    dueAt: nullable(Date),
    warnings: [warningSchema],
  },
  subdocumentOptions,
)

const timelineEventSchema = new Schema<TimelineEvent>(
  {
    at: required(Date),
    type: { type: String, enum: TIMELINE_TYPES, required: true },
    status: { type: String, enum: POST_STATUSES },
    platform: { type: String, enum: PLATFORMS },
    accountId: { type: String, default: undefined },
    result: { type: String, enum: TIMELINE_RESULTS },
    code: String,
    platformReason: { type: platformReasonSchema, default: undefined },
    round: Number,
    attempt: Number,
    part: Number,
    until: Date,
    runId: String,
  },
  subdocumentOptions,
)

const pendingEventSchema = new Schema<NotifiedEvent>(
  {
    id: required(String),
    type: { type: String, enum: EVENT_TYPES, required: true },
    occurredAt: required(Date),
    data: Schema.Types.Mixed,
    notification: Schema.Types.Mixed,
  },
  subdocumentOptions,
)

export const METRICS_INDEX = {
  'platformStatuses.platform': 1,
  'platformStatuses.server': 1,
  userId: 1,
  'platformStatuses.metricsDueAt': 1,
} as const

/** The paths of the contents of a post that queries can name. Those for single accounts have ids in their paths. */
export const CONTENT_PATHS = ['content', ...PLATFORMS.map((name) => `platformSpecificContent.${name}`)].flatMap(
  (path) => [path, `${path}.segments`],
)

/** The indexes whose keys suffice to count the posts in a range of either time by status. */
export const RANGE_INDEXES = {
  scheduledAt: { userId: 1, scheduledAt: -1, _id: -1, status: 1 },
  createdAt: { userId: 1, status: 1, createdAt: -1, _id: -1, scheduledAt: 1 },
} as const

const lateSchema = new Schema<IfLate>(
  { action: { type: String, enum: LATE_ACTIONS, required: true }, afterMinutes: required(Number) },
  subdocumentOptions,
)

/** The stored post. Its timeline and its pending events are read separately. */
export const postSchema = new Schema<StoredPost>(
  {
    _id: required(String),
    userId: required(String),
    content: required(contentSchema),
    platformSpecificContent: { type: Schema.Types.Mixed, default: {} },
    accountSpecificContent: { type: Schema.Types.Mixed, default: undefined },
    contentVersion: required(Number),
    selectedPlatforms: { type: [String], enum: PLATFORMS, required: true },
    selectedAccounts: { type: [String], default: undefined },
    groups: { type: [groupSchema], default: undefined },
    scheduledAt: nullable(Date),
    dueAt: nullable(Date),
    dueRank: { type: Number, default: undefined },
    timezone: required(String),
    status: { type: String, enum: POST_STATUSES, required: true },
    platformStatuses: { type: [platformStatusSchema], required: true },
    correlationId: nullable(String),
    requestHash: nullable(String),
    firstResponse: { type: firstResponseSchema, default: undefined },
    metadata: {
      source: { type: String, enum: POST_SOURCES, required: true },
      client: { type: String, enum: POST_CLIENTS, required: true },
    },
    allowanceMovedTo: { type: String, default: undefined },
    duplicateOf: { type: String, default: undefined },
    slotOf: { type: String, default: undefined },
    ifLate: { type: lateSchema, default: undefined },
    dueCheck: { type: new Schema({ at: nullable(Date), warned: [String] }, subdocumentOptions), default: undefined },
    startPending: required(Boolean),
    changeDueAt: { type: Date, default: undefined },
    publishedKeys: { type: [String], default: undefined },
    revision: required(Number),
    createdAt: required(Date),
    updatedAt: required(Date),
    timeline: { type: [timelineEventSchema], select: false },
    pendingEvents: { type: [pendingEventSchema], select: false },
  },
  { ...schemaOptions, timestamps: false },
)

// guard: unique idempotency key
postSchema.index(
  { userId: 1, correlationId: 1 },
  { unique: true, partialFilterExpression: { correlationId: { $type: 'string' } } },
)
// guard: slot of one post
postSchema.index(
  { userId: 1, slotOf: 1, scheduledAt: 1 },
  { unique: true, partialFilterExpression: { slotOf: { $type: 'string' } } },
)
// With the last field, a list of a range does not read the records that are scheduled for other times.
postSchema.index({ userId: 1, createdAt: -1, _id: -1, scheduledAt: 1 })
postSchema.index(RANGE_INDEXES.scheduledAt)
postSchema.index(RANGE_INDEXES.createdAt)
postSchema.index({ status: 1, dueAt: 1 })
// Scheduled posts that are to be checked before they are due.
postSchema.index({ 'dueCheck.at': 1, dueAt: 1, _id: 1 }, { partialFilterExpression: { status: 'SCHEDULED' } })
// Immediate posts are not indexed here and cost nothing.
postSchema.index({ scheduledAt: -1 }, { partialFilterExpression: { scheduledAt: { $gt: new Date(0) } } })
postSchema.index({ startPending: 1, updatedAt: 1 }, { partialFilterExpression: { startPending: true } })
postSchema.index({ changeDueAt: 1 }, { partialFilterExpression: { changeDueAt: { $type: 'date' } } })
// Only posts with events that are not in the feed yet, for the sweeper.
postSchema.index(
  { 'pendingEvents.occurredAt': 1 },
  { partialFilterExpression: { 'pendingEvents.occurredAt': { $exists: true } } },
)
// Published posts by server, owner and the time of their next metrics collection. Unpublished posts cost nothing.
postSchema.index(METRICS_INDEX, { partialFilterExpression: { publishedKeys: { $exists: true } } })
