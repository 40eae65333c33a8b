import { Type, type Static } from '@sinclair/typebox'
import {
  DEFAULT_GAP_MINUTES,
  IMPORT_FORMATS,
  IMPORT_STATES,
  MAX_GAP_MINUTES,
  MAX_IMPORT_ROWS,
  PAUSE_REASONS,
  ROW_STATUSES,
  type ImportFormat,
  type ImportState,
  type PauseReason,
  type RowStatus,
} from '../../domain/imports/imports.ts'
import { DATE_ORDERS, type DateOrder } from '../../domain/imports/spreadsheet-times.ts'
import type { Conflict } from '../../domain/imports/conflicts.ts'
import { filterFields } from '../posts/schemas/list.ts'
import { ReplacePostBody } from '../posts/schemas/post-input.ts'
import { Instant, nullable, PlatformName, stringEnum } from '../shared/schemas/common.ts'
import { ProblemSchema } from '../shared/schemas/envelope.ts'

/**
 * A row has the fields of a whole post. Its idempotency key is that of its position in the import, and the time zone of the import replaces
 * the default one.
 */
export const ImportRowInput = Type.Object(
  {
    ...ReplacePostBody.properties,
    timezone: Type.Optional(
      Type.String({
        maxLength: 100,
        description: 'IANA timezone; the default is that of the import',
        examples: ['Europe/Berlin'],
      }),
    ),
  },
  { title: 'ImportPost' },
)

/** The rows are checked one by one, so this schema only documents the body. */
export const ImportBody = Type.Unsafe({
  content: {
    'application/json': {
      schema: Type.Array(ImportRowInput, { minItems: 1, maxItems: MAX_IMPORT_ROWS }),
    },
    'text/csv': {
      schema: Type.String({
        description: 'A header and rows in UTF-8 or UTF-16. `docs/guide/imports.md` describes the columns.',
        examples: ['text,platforms,scheduledAt\nGood morning,bluesky,2027-05-01T09:30:00Z\n'],
      }),
    },
  },
})

export const ImportQuery = Type.Object({
  gapMinutes: Type.Integer({
    minimum: 0,
    maximum: MAX_GAP_MINUTES,
    default: DEFAULT_GAP_MINUTES,
    description: 'Posts of an account that are closer than this are a conflict; 0 allows any distance',
  }),
  timezone: Type.String({
    maxLength: 100,
    default: 'UTC',
    description: 'IANA timezone of rows without one',
  }),
  dateOrder: Type.Optional(
    stringEnum<DateOrder>(DATE_ORDERS, {
      description: 'The order of day, month and year in a CSV file whose dates do not begin with the year',
    }),
  ),
})

export const ImportHeaders = Type.Object({
  prefer: Type.Optional(
    Type.String({ description: '`handling=strict` refuses unknown columns. They are always refused for API keys.' }),
  ),
})

const Count = Type.Integer({ minimum: 0 })

const ImportCounts = Type.Object(
  Object.fromEntries(ROW_STATUSES.map((status) => [status, Count])) as Record<RowStatus, typeof Count>,
  { title: 'ImportCounts', description: 'The number of rows in each status' },
)

export const ImportSchema = Type.Object(
  {
    id: Type.String(),
    state: stringEnum<ImportState>(IMPORT_STATES, { title: 'ImportState' }),
    pausedBecause: nullable(
      stringEnum<PauseReason>(PAUSE_REASONS, { description: 'Why the service paused the import; null when you did' }),
    ),
    format: stringEnum<ImportFormat>(IMPORT_FORMATS),
    gapMinutes: Type.Integer(),
    timezone: Type.String(),
    rows: Type.Integer(),
    counts: ImportCounts,
    posts: Type.Object(
      { drafts: Count, scheduled: Count, immediate: Count },
      { description: 'The posts that the rows without errors would create' },
    ),
    allowance: Type.Object(
      { used: Count, limit: Count, needed: Count, missing: Count },
      { description: "The plan's allowance when the import was planned, and how many posts it lacks" },
    ),
    createdAt: Instant,
    updatedAt: Instant,
    removeAt: Type.String({ format: 'date-time', description: 'When the import is removed; its posts stay' }),
  },
  { title: 'Import' },
)

const ConflictSchema = Type.Object(
  {
    code: stringEnum<Conflict['code']>(['TOO_CLOSE', 'DUPLICATE_CONTENT']),
    message: Type.String(),
    platform: PlatformName,
    accountId: Type.Optional(Type.String()),
    withRow: Type.Optional(Type.Integer({ description: 'The earlier row' })),
    withPostId: Type.Optional(Type.String({ description: 'The stored post' })),
  },
  { title: 'ImportConflict' },
)

const Row = Type.Object(
  {
    row: Type.Integer({ description: 'Counted from 1, without the header of a CSV file' }),
    status: stringEnum<RowStatus>(ROW_STATUSES, { title: 'ImportRowStatus' }),
    post: nullable(
      Type.Object(
        {},
        { additionalProperties: true, description: 'The body for `POST /api/posts`; null once the post exists' },
      ),
    ),
    postId: nullable(Type.String()),
    errors: Type.Array(ProblemSchema),
    warnings: Type.Array(ProblemSchema),
    conflicts: Type.Array(ConflictSchema),
  },
  { title: 'ImportRow' },
)

export const RowPage = Type.Object({
  rows: Type.Array(Row),
  nextCursor: nullable(Type.String({ description: 'Send it as `cursor` to get the next page; null on the last one' })),
})

export type ImportRowView = Static<typeof Row>

const MAX_ROWS_PER_PAGE = 200

export const RowsQuery = Type.Object({
  status: Type.Optional(
    Type.Array(stringEnum<RowStatus>(ROW_STATUSES), { minItems: 1, maxItems: ROW_STATUSES.length }),
  ),
  cursor: Type.Optional(Type.String({ pattern: '^\\d{1,5}$', description: '`nextCursor` of the page before' })),
  limit: Type.Integer({ minimum: 1, maximum: MAX_ROWS_PER_PAGE, default: 50 }),
})

export const ApplyBody = nullable(
  Type.Object(
    {
      skipErrors: Type.Optional(
        Type.Boolean({ description: 'Leaves out rows with errors; without it, a plan with errors is refused' }),
      ),
      skipConflicts: Type.Optional(
        Type.Boolean({ description: 'Leaves out rows with conflicts; without it, their posts are created' }),
      ),
    },
    { title: 'ApplyImport', examples: [{ skipErrors: true }] },
  ),
)

export const ExportQuery = Type.Object({
  format: stringEnum<ImportFormat>(IMPORT_FORMATS, { default: 'json' }),
  ...filterFields,
})

/** The response is streamed, so this schema only documents it. */
export const ExportedPosts = Type.Unsafe({
  description: 'The posts, newest first, as `POST /api/imports` accepts them',
  content: {
    'application/json': { schema: Type.Array(ImportRowInput) },
    'text/csv': { schema: Type.String() },
  },
})
