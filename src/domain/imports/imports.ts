import type { Allowance } from '../billing/plans.ts'
import { resolveContent } from '../posts/content.ts'
import { toParts } from '../posts/parts.ts'
import type {
  Content,
  ContentOverride,
  IfLate,
  LinkCard,
  LinkChoice,
  MediaItem,
  Post,
  PostSource,
  Segment,
} from '../posts/post.ts'
import { ServiceError, type Problem } from '../shared/service-error.ts'
import { DAY } from '../shared/times.ts'
import type { Conflict } from './conflicts.ts'

/** `planned` imports wait for the user. `paused` ones continue when the user resumes them. */
export const IMPORT_STATES = ['planned', 'applying', 'paused', 'completed', 'cancelled'] as const
export type ImportState = (typeof IMPORT_STATES)[number]

/** The findings of the plan for a row. A row has the status of its worst finding. */
export const PLANNED_STATUSES = ['ready', 'warning', 'conflict', 'error'] as const
export type PlannedStatus = (typeof PLANNED_STATUSES)[number]

/** `skipped`: left out on request. `failed`: the post was refused when it was created. */
export const ROW_STATUSES = [...PLANNED_STATUSES, 'created', 'skipped', 'failed'] as const
export type RowStatus = (typeof ROW_STATUSES)[number]

export const IMPORT_FORMATS = ['json', 'csv'] as const
export type ImportFormat = (typeof IMPORT_FORMATS)[number]

export const MAX_IMPORT_ROWS = 10_000
/** The problems of a row that are stored. A small row can have thousands. */
export const MAX_ROW_PROBLEMS = 20
/** Stored imports of a user, whatever their state. */
export const MAX_IMPORTS = 10
/** Imports and their rows are removed this long after they were planned. */
export const IMPORT_LIFE_MS = 30 * DAY
export const DEFAULT_GAP_MINUTES = 5
export const MAX_GAP_MINUTES = 1_440

export const PAUSE_REASONS = ['POST_LIMIT_REACHED', 'ACCOUNT_DISABLED'] as const
export type PauseReason = (typeof PAUSE_REASONS)[number]

export type RowCounts = Record<RowStatus, number>

/** Rows without errors, by what creating them does. */
export interface PlannedPosts {
  drafts: number
  scheduled: number
  immediate: number
}

export interface ApplyOptions {
  /** Leaves out rows with errors; without it, a plan with errors cannot be applied. */
  skipErrors: boolean
  /** Leaves out rows with conflicts; without it, their posts are created. */
  skipConflicts: boolean
}

export interface PostImport {
  _id: string
  userId: string
  state: ImportState
  /** Why the service paused the import; null when the user did, and in other states. */
  pausedBecause: PauseReason | null
  format: ImportFormat
  gapMinutes: number
  /** The time zone of rows without one. */
  timezone: string
  source: PostSource
  /** The number of rows in each status. */
  counts: RowCounts
  posts: PlannedPosts
  /** The allowance of the plan when the import was planned. */
  allowance: Allowance
  options: ApplyOptions | null
  createdAt: Date
  updatedAt: Date
  /** The workflow's lease ends then; the sweeper starts an import that is being applied again afterwards. */
  leasedUntil: Date
  removeAt: Date
}

export const NO_ROWS: RowCounts = { ready: 0, warning: 0, conflict: 0, error: 0, created: 0, skipped: 0, failed: 0 }

export function countRows({ counts }: Pick<PostImport, 'counts'>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0)
}

/** Returns the status of a row with these findings. */
export function toPlannedStatus(findings: {
  errors: readonly Problem[]
  conflicts: readonly Conflict[]
  warnings: readonly Problem[]
}): PlannedStatus {
  if (findings.errors.length > 0) return 'error'
  if (findings.conflicts.length > 0) return 'conflict'
  return findings.warnings.length > 0 ? 'warning' : 'ready'
}

/** Returns the statuses of the rows whose posts are created; those of other rows are left out. */
export function listCreatable({ skipConflicts }: ApplyOptions): PlannedStatus[] {
  return skipConflicts ? ['ready', 'warning'] : ['ready', 'warning', 'conflict']
}

/** Returns true when applying creates posts that are no drafts. Conflicting rows that will be left out count as well. */
export function hasPublications({ posts }: Pick<PostImport, 'posts'>): boolean {
  return posts.scheduled + posts.immediate > 0
}

/** A change of the state. `expected` are the states from which it is allowed. */
const MOVES = {
  apply: { expected: ['planned'], next: 'applying' },
  pause: { expected: ['applying'], next: 'paused' },
  resume: { expected: ['paused'], next: 'applying' },
  cancel: { expected: ['planned', 'applying', 'paused'], next: 'cancelled' },
} as const satisfies Record<string, { expected: readonly ImportState[]; next: ImportState }>

export type ImportMove = keyof typeof MOVES

/**
 * Returns the state after a move. A repeated move changes nothing, and neither does `apply` once it has begun.
 * @throws ServiceError IMPORT_STATE when the import cannot make it
 */
export function moveImport(state: ImportState, move: ImportMove): ImportState {
  const { expected, next } = MOVES[move]
  if (expected.some((one) => one === state)) return next
  const hasBegun = move === 'apply' && state !== 'cancelled'
  if (state === next || hasBegun) return state
  throw new ServiceError('IMPORT_STATE', `This import is ${state}, so it cannot ${move}. Read its state first.`)
}

/** @throws ServiceError IMPORT_HAS_ERRORS when rows with errors are not to be left out */
export function assertApplicable({ counts }: Pick<PostImport, 'counts'>, { skipErrors }: ApplyOptions): void {
  if (counts.error === 0 || skipErrors) return
  const message = `${counts.error} rows have errors. Correct them in a new import, or apply with skipErrors to leave them out.`
  throw new ServiceError('IMPORT_HAS_ERRORS', message)
}

/** The idempotency key of the post of a row: however often the row is tried, one post is created. */
export function toRowKey(importId: string, row: number): string {
  return `import/${importId}/${row}`
}

/** The id of a stored row. */
export function toRowId(importId: string, row: number): string {
  return `${importId}/${row}`
}

type ExportedMedia = Omit<MediaItem, 'storageUrl'>

export interface ExportedSegment {
  text: string
  /** Absent without any. */
  mediaItems?: ExportedMedia[]
}

export interface ExportedContent extends Pick<ContentOverride, 'text' | 'firstComment' | 'onUnsupported' | 'options'> {
  mediaItems?: ExportedMedia[]
  segments?: ExportedSegment[]
  link?: Exclude<LinkChoice, LinkCard> | (Omit<LinkCard, 'image'> & { image?: ExportedMedia })
}

/** A post in the form that an import and `POST /api/posts` accept. */
export interface ExportedPost {
  content: ExportedContent & { text: string; mediaItems: ExportedMedia[] }
  selectedPlatforms: Post['selectedPlatforms']
  selectedAccounts?: string[]
  platformSpecificContent?: Record<string, ExportedContent>
  accountSpecificContent?: Record<string, ExportedContent>
  scheduledAt: string | null
  timezone: string
  ifLate?: IfLate
  status: 'DRAFT' | 'SCHEDULED'
}

/** Converts a post. All but scheduled posts become drafts, so that importing an export publishes nothing a second time. */
export function toExportedPost(post: Post): ExportedPost {
  const { accountSpecificContent = {}, platformSpecificContent } = post
  // Also the accounts of groups, because a group may have changed when the file is imported.
  const selectedAccounts = post.platformStatuses.flatMap(({ target }) => target ?? [])
  const isScheduled = post.status === 'SCHEDULED'
  const keepsTime = isScheduled || post.status === 'DRAFT'
  return {
    content: exportContent(post.content),
    selectedPlatforms: post.selectedPlatforms,
    ...(selectedAccounts.length > 0 && { selectedAccounts }),
    ...(Object.keys(platformSpecificContent).length > 0 && {
      platformSpecificContent: exportOverrides(platformSpecificContent),
    }),
    ...(Object.keys(accountSpecificContent).length > 0 && {
      accountSpecificContent: exportOverrides(accountSpecificContent),
    }),
    scheduledAt: keepsTime ? (post.scheduledAt?.toISOString() ?? null) : null,
    timezone: post.timezone,
    ...(post.ifLate && { ifLate: post.ifLate }),
    status: isScheduled ? 'SCHEDULED' : 'DRAFT',
  }
}

function exportOverrides(overrides: Record<string, ContentOverride>): Record<string, ExportedContent> {
  return Object.fromEntries(Object.entries(overrides).map(([name, override]) => [name, exportContent(override)]))
}

function exportContent(content: Content): ExportedPost['content']
function exportContent(content: ContentOverride): ExportedContent
function exportContent(content: ContentOverride): ExportedContent {
  const { text, mediaItems, segments, firstComment, onUnsupported, options, link } = content
  return {
    ...(text !== undefined && { text }),
    ...(mediaItems && { mediaItems: mediaItems.map(toExportedMedia) }),
    ...(segments && { segments: segments.map(exportSegment) }),
    ...(firstComment !== undefined && { firstComment }),
    ...(onUnsupported !== undefined && { onUnsupported }),
    ...(options && { options }),
    ...(link !== undefined && { link: exportLink(link) }),
  }
}

function exportLink(link: LinkChoice): NonNullable<ExportedContent['link']> {
  if (typeof link === 'string') return link
  const { image, ...card } = link
  return { ...card, ...(image && { image: toExportedMedia(image) }) }
}

function exportSegment({ text, mediaItems }: Segment): ExportedSegment {
  return { text, ...(mediaItems.length > 0 && { mediaItems: mediaItems.map(toExportedMedia) }) }
}

function toExportedMedia({ storageUrl: _storageUrl, ...item }: MediaItem): ExportedMedia {
  return item
}

/** Serializes what an account receives of a post, so that equal texts mean equal content. */
export function toContentText(
  post: Parameters<typeof resolveContent>[0],
  entry: Parameters<typeof resolveContent>[1],
): string {
  const parts = toParts(entry.platform, resolveContent(post, entry))
  const toKeys = (items: readonly MediaItem[]) => items.map(({ storageKey }) => storageKey)
  return JSON.stringify(parts.map(({ kind, content }) => [kind, content.text, toKeys(content.mediaItems)]))
}
