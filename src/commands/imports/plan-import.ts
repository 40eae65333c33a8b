import { createHash } from 'node:crypto'
import { getAllowance } from '../../domain/billing/plans.ts'
import {
  createConflictFinder,
  DUPLICATE_WINDOW_MS,
  type Conflict,
  type PlacedPost,
} from '../../domain/imports/conflicts.ts'
import {
  IMPORT_LIFE_MS,
  MAX_IMPORT_ROWS,
  MAX_IMPORTS,
  MAX_ROW_PROBLEMS,
  NO_ROWS,
  toContentText,
  toPlannedStatus,
  toRowId,
  type ImportFormat,
  type PlannedPosts,
  type PostImport,
} from '../../domain/imports/imports.ts'
import { toCellProblem } from '../../domain/imports/csv-rows.ts'
import type { PostSource } from '../../domain/posts/post.ts'
import { collectMediaKeys } from '../../domain/posts/content.ts'
import { NEXT_SLOT, noSlots } from '../../domain/posts/slots.ts'
import { toBurstDelayMs, warnOfBurst } from '../../domain/posts/due-order.ts'
import { SCHEDULED_IN_PAST } from '../../domain/posts/preflight.ts'
import {
  createDelayForecast,
  MAX_PLANNED,
  toLookbackMs,
  type PublicationState,
} from '../../domain/quotas/publications.ts'
import { splitIntoChunks } from '../../domain/shared/lists.ts'
import { ServiceError, validationFailed, type Problem } from '../../domain/shared/service-error.ts'
import { findTimezoneProblem } from '../../domain/shared/timezones.ts'
import { MINUTE, SECOND } from '../../domain/shared/times.ts'
import type { User } from '../../domain/users/user.ts'
import { createFairLimit } from '../../flow/fair-limit.ts'
import { createTurns } from '../../flow/turns.ts'
import type { ConnectedAccount } from '../../store/accounts/accounts.ts'
import type { ImportRow, RowFindings } from '../../store/imports/imports.ts'
import type { PlacedPost as StoredPlacedPost } from '../../store/posts/post-lists.ts'
import { newId } from '../../store/shared/schema.ts'
import { forecastWithQuotas, toQuotaWarning, type LimitedAccount } from '../posts/forecast-delays.ts'
import { toChosen } from '../../domain/posts/post-moves.ts'
import { loadUserAccounts, type FindNamedAccounts } from '../posts/post-accounts.ts'
import type { WholePostInput } from '../posts/post-input.ts'
import { checkPost, type CheckedPost } from '../posts/validate-post.ts'
import type { CommandContext } from '../context.ts'

/** A row as the file has it; `input` is null when its form is wrong, which `problems` then explain. */
export interface ReadRow {
  row: number
  input: WholePostInput | null
  problems: Problem[]
  warnings: Problem[]
  /** Size of the input. */
  bytes: number
}

export interface PlanImportRequest {
  userId: string
  format: ImportFormat
  gapMinutes: number
  /** The time zone of rows without one. */
  timezone: string
  source: PostSource
}

/** Rows are stored in batches of this size. */
const BATCH = 250
/** A batch ends early with this size, because the driver serializes it without interruption. */
const BATCH_BYTES = 1_048_576

type Target = CheckedPost['targets'][number]

/** A row without errors, as it is compared with other posts. */
interface Fact extends StoredPlacement {
  other: { row: number }
  targets: Pick<Target, 'platform' | 'target' | 'path' | 'account'>[]
  timezone: string
  warnings: number
}

/**
 * Checks rows while they arrive, stores them with what creating their posts would do, and compares them with each other and with stored
 * posts. Nothing is published. The number of queries depends on the number of batches and accounts, and not on that of rows.
 * @throws ServiceError IMPORT_LIMIT_REACHED, PAYLOAD_TOO_LARGE for too many rows, VALIDATION_FAILED, or the error of `rows`. Nothing is
 * stored then
 */
export async function planImport(
  deps: CommandContext,
  request: PlanImportRequest,
  rows: AsyncIterable<ReadRow>,
): Promise<PostImport> {
  const { userId } = request
  const timezoneProblem = findTimezoneProblem(request.timezone)
  if (timezoneProblem) throw validationFailed([timezoneProblem])
  if ((await deps.imports.count(userId)) >= MAX_IMPORTS) throw limitReached()
  const now = deps.clock.now()
  const importId = newId()
  const removeAt = new Date(now.getTime() + IMPORT_LIFE_MS)
  try {
    const accounts = await loadUserAccounts(deps, userId)
    const checker = createRowChecker(deps, { ...request, importId, removeAt, now }, accounts.findNamedAccounts)
    for await (const batch of inBatches(rows)) await deps.imports.insertRows(await checker.check(batch))
    const findings = await compareRows(deps, request, { facts: checker.facts, connected: accounts.connected, now })
    for (const some of splitIntoChunks(findings, BATCH)) await deps.imports.addFindings(userId, importId, some)
    await storeImport(deps, await toImport(deps, { ...request, importId, removeAt, now, posts: checker.posts }))
    await deps.imports.updateCounts(userId, importId, now)
    return (await deps.imports.findOwned(userId, importId))!
  } catch (error) {
    // Rows that stay expire.
    await deps.imports.remove(userId, importId).catch(() => {})
    throw error
  }
}

async function* inBatches(rows: AsyncIterable<ReadRow>): AsyncGenerator<ReadRow[]> {
  let batch: ReadRow[] = []
  let count = 0
  let bytes = 0
  for await (const row of rows) {
    count += 1
    if (count > MAX_IMPORT_ROWS) {
      const message = `An import has at most ${MAX_IMPORT_ROWS} rows. Divide the file into several.`
      throw new ServiceError('PAYLOAD_TOO_LARGE', message)
    }
    batch.push(row)
    bytes += row.bytes
    if (batch.length < BATCH && bytes < BATCH_BYTES) continue
    yield batch
    batch = []
    bytes = 0
  }
  if (batch.length > 0) yield batch
  if (count > 0) return
  throw new ServiceError('BAD_REQUEST', 'The file has no rows. Send at least one post.')
}

interface RowContext extends PlanImportRequest {
  importId: string
  removeAt: Date
  now: Date
}

/** Checks rows by themselves, and collects what the comparison needs. */
function createRowChecker(deps: CommandContext, context: RowContext, findNamedAccounts: FindNamedAccounts) {
  const { userId, importId, removeAt, now, format } = context
  const nameCell = format === 'csv' ? toCellProblem : (problem: Problem) => problem
  const facts: Fact[] = []
  const posts: PlannedPosts = { drafts: 0, scheduled: 0, immediate: 0 }
  const takeTurn = createTurns()
  let slots: ReturnType<typeof deps.slots.find> | undefined

  /** Which slot a row gets is decided when its post is created. */
  async function findSlotProblems({ scheduledAt }: WholePostInput): Promise<Problem[]> {
    if (scheduledAt !== NEXT_SLOT) return []
    const { plans } = await (slots ??= deps.slots.find(userId))
    return plans.length === 0 ? [noSlots()] : []
  }

  async function checkRow({ row, input, problems, warnings: given }: ReadRow): Promise<ImportRow> {
    const stored = { _id: toRowId(importId, row), userId, importId, row, conflicts: [], postId: null, removeAt }
    if (!input || problems.length > 0) {
      return {
        ...stored,
        status: 'error',
        input: null,
        planned: { accounts: [], groups: [] },
        mediaKeys: [],
        errors: problems.slice(0, MAX_ROW_PROBLEMS),
        warnings: given.slice(0, MAX_ROW_PROBLEMS),
      }
    }
    const wanted = toWanted(input, context.timezone)
    const inputContext = { userId, publicUrl: deps.storage.publicUrl, now }
    const checked = await checkPost(wanted, inputContext, findNamedAccounts)
    const findings = divideFindings(wanted, checked)
    const errors = [...findings.errors, ...(await findSlotProblems(wanted))].map(nameCell)
    const warnings = [...given, ...findings.warnings.map(nameCell)]
    if (errors.length === 0) {
      facts.push(toFact(row, { wanted, checked, now, warnings: warnings.length }))
      posts[wanted.status === 'DRAFT' ? 'drafts' : wanted.scheduledAt ? 'scheduled' : 'immediate'] += 1
    }
    return {
      ...stored,
      status: toPlannedStatus({ errors, warnings, conflicts: [] }),
      input: wanted,
      planned: {
        accounts: checked.targets.filter(({ target, accountId }) => target === undefined && accountId).map(toChosen),
        groups: [...checked.groups],
      },
      mediaKeys: errors.length === 0 ? [...collectMediaKeys(checked.value)] : [],
      errors: errors.slice(0, MAX_ROW_PROBLEMS),
      warnings: warnings.slice(0, MAX_ROW_PROBLEMS),
    }
  }

  return {
    facts,
    posts,
    async check(batch: readonly ReadRow[]): Promise<ImportRow[]> {
      const checked: ImportRow[] = []
      for (const row of batch) {
        await takeTurn()
        checked.push(await checkRow(row))
      }
      return checked
    },
  }
}

/**
 * Returns the input with the time zone of the import, and with the status that makes a past time an error: a row for a time that has
 * passed is never published immediately, not even when the import is applied late.
 */
function toWanted(input: WholePostInput, timezone: string): WholePostInput {
  const status = input.status ?? (input.scheduledAt ? 'SCHEDULED' : undefined)
  const isTimed = status === 'PENDING' && input.scheduledAt
  return { timezone, ...input, ...(status && { status: isTimed ? 'SCHEDULED' : status }) }
}

/** A draft may be unfinished, so the rules of platforms are only warnings for it. */
function divideFindings({ status }: WholePostInput, checked: CheckedPost) {
  const errors = status === 'DRAFT' ? checked.draftErrors : checked.errors
  const warnings = [...checked.warnings, ...checked.errors.filter((error) => !errors.includes(error))]
  const isRefused = errors.some(({ code }) => code === SCHEDULED_IN_PAST.code)
  const remaining = isRefused ? warnings.filter(({ code }) => code !== SCHEDULED_IN_PAST.code) : warnings
  return { errors, warnings: remaining }
}

function toFact(
  row: number,
  { wanted, checked, now, warnings }: { wanted: WholePostInput; checked: CheckedPost; now: Date; warnings: number },
): Fact {
  const { value, targets } = checked
  return {
    other: { row },
    at: (value.scheduledAt ?? now).getTime(),
    isTimed: wanted.status !== 'DRAFT' && wanted.scheduledAt !== NEXT_SLOT,
    scheduledAt: wanted.status === 'DRAFT' ? null : (value.scheduledAt ?? null),
    placements: targets.map((target) => ({
      account: toAccountKey(target),
      platform: target.platform,
      ...(target.accountId !== undefined && { accountId: target.accountId }),
      content: hashContent(value, target),
    })),
    targets: targets.map(({ platform, target, path, account }) => ({
      platform,
      path,
      account,
      ...(target !== undefined && { target }),
    })),
    timezone: value.timezone,
    warnings,
  }
}

/** A platform without an account is compared by its name. */
function toAccountKey({ accountId, platform }: { accountId?: string | undefined; platform: string }): string {
  return accountId ?? platform
}

function hashContent(...args: Parameters<typeof toContentText>): string {
  return createHash('sha256')
    .update(toContentText(...args))
    .digest('base64url')
}

interface StoredPlacement extends PlacedPost {
  /** The time that its user chose; null for a post that does not wait for one. */
  scheduledAt: Date | null
}

interface Comparison {
  facts: Fact[]
  connected: readonly ConnectedAccount[]
  now: Date
}

/** Returns the conflicts of rows, and the delays that publication quotas would cause. */
async function compareRows(
  deps: CommandContext,
  { userId, gapMinutes, format }: PlanImportRequest,
  comparison: Comparison,
): Promise<RowFindings[]> {
  const { facts } = comparison
  if (facts.length === 0) return []
  const stored = await readPlacedPosts(deps, userId, comparison)
  const conflicts = await findConflicts(stored, facts, gapMinutes * MINUTE)
  const delays = await forecastRows(deps, stored, comparison)
  const bursts = await findBursts(deps, stored, facts)
  return facts.flatMap(({ other: { row }, warnings: count }): RowFindings[] => {
    const warnings = [...(bursts.get(row) ?? []), ...(delays.get(row) ?? [])]
    const found = {
      conflicts: conflicts.get(row) ?? [],
      warnings: format === 'csv' ? warnings.map(toCellProblem) : warnings,
    }
    if (found.conflicts.length === 0 && found.warnings.length === 0) return []
    const status =
      found.conflicts.length > 0 ? 'conflict' : count + found.warnings.length > 0 ? ('warning' as const) : 'ready'
    return [{ row, status, ...found }]
  })
}

/** Reads the posts around the times of the rows. Contents that no row has are not compared, so they are not held. */
async function readPlacedPosts(
  { posts }: CommandContext,
  userId: string,
  { facts, connected, now }: Comparison,
): Promise<StoredPlacement[]> {
  const contents = new Set(facts.flatMap(({ placements }) => placements.map(({ content }) => content)))
  const times = facts.reduce(({ first, last }, { at }) => ({ first: Math.min(first, at), last: Math.max(last, at) }), {
    first: now.getTime(),
    last: now.getTime(),
  })
  const defaults = new Map(connected.filter(({ isDefault }) => isDefault).map(({ platform, _id }) => [platform, _id]))
  const placed: StoredPlacement[] = []
  const from = new Date(times.first - DUPLICATE_WINDOW_MS)
  for await (const post of posts.placedIn(userId, from, new Date(times.last + DUPLICATE_WINDOW_MS))) {
    placed.push(toPlacedPost(post, { contents, defaults }))
  }
  return placed
}

function toPlacedPost(
  post: StoredPlacedPost,
  { contents, defaults }: { contents: ReadonlySet<string>; defaults: ReadonlyMap<string, string> },
): StoredPlacement {
  return {
    other: { postId: post._id },
    at: (post.dueAt ?? post.scheduledAt ?? post.createdAt).getTime(),
    isTimed: post.status !== 'DRAFT',
    scheduledAt: post.status === 'SCHEDULED' ? post.scheduledAt : null,
    placements: post.platformStatuses.map(({ platform, accountId = defaults.get(platform) }) => {
      const content = hashContent(post, { platform, accountId })
      return {
        account: toAccountKey({ accountId, platform }),
        platform,
        ...(accountId !== undefined && { accountId }),
        content: contents.has(content) ? content : '',
      }
    }),
  }
}

/** Returns the rows that publication quotas would delay, with the warnings of `POST /api/posts/validate`. */
async function forecastRows(
  deps: CommandContext,
  stored: readonly StoredPlacement[],
  { facts, connected, now }: Comparison,
): Promise<Map<number, Problem[]>> {
  async function forecastAccount({ account, limits }: LimitedAccount, { record, now: readAt }: PublicationState) {
    const forecast = createDelayForecast(record, limits, readAt)
    const isHere = ({ placements }: PlacedPost) => placements.some((one) => one.account === account._id)
    const rowsHere = facts.filter((fact) => fact.isTimed && isHere(fact))
    const planned = [...stored.filter((post) => post.scheduledAt && isHere(post)), ...rowsHere]
      .map((post) => ({ at: post.at, fact: 'targets' in post ? (post as Fact) : null }))
      .toSorted((one, other) => one.at - other.at)
    const times = planned.map(({ at }) => new Date(at))
    const found: { row: number; warning: Problem }[] = []
    let from = 0
    for await (const [to, { at, fact }] of inTurns([...planned.entries()])) {
      if (!fact) continue
      const earliest = Math.max(now.getTime(), at - toLookbackMs(limits))
      while (from < to && (planned[from]!.at <= earliest || to - from > MAX_PLANNED)) from += 1
      const delay = forecast(times, times[to]!, { from, to })
      const target = fact.targets.find((one) => one.account?._id === account._id)
      if (!delay || !target) continue
      found.push({ row: fact.other.row, warning: toQuotaWarning(target, delay, fact.timezone) })
    }
    return found
  }

  // One at a time, because each sorts all posts of its account. Platforms are asked side by side.
  const takeTurn = createFairLimit({ maxRunning: 1 })
  const delays = await forecastWithQuotas(deps, connected, (limited, state) =>
    takeTurn(limited.account._id, () => forecastAccount(limited, state)),
  )
  const warnings = new Map<number, Problem[]>()
  for (const { row, warning } of delays) warnings.set(row, [...(warnings.get(row) ?? []), warning])
  return warnings
}

/** Returns the conflicts by row. */
async function findConflicts(stored: readonly StoredPlacement[], facts: readonly Fact[], gapMs: number) {
  const finder = createConflictFinder(gapMs)
  for await (const post of inTurns(stored)) finder.add(post)
  const found = new Map<number, Conflict[]>()
  for await (const fact of inTurns(facts)) found.set(fact.other.row, finder.check(fact))
  return found
}

/** Returns the rows that become due later than their time, because many posts of the user are scheduled for their second. */
async function findBursts(
  { burstLimits }: CommandContext,
  stored: readonly StoredPlacement[],
  facts: readonly Fact[],
): Promise<Map<number, Problem[]>> {
  const ranks = new Map<number, number>()
  const takeRank = (scheduledAt: Date): number => {
    const second = Math.ceil(scheduledAt.getTime() / SECOND)
    const rank = ranks.get(second) ?? 0
    ranks.set(second, rank + 1)
    return rank
  }
  for (const { scheduledAt } of stored) if (scheduledAt) takeRank(scheduledAt)
  const warnings = new Map<number, Problem[]>()
  for await (const { scheduledAt, other, timezone } of inTurns(facts)) {
    if (!scheduledAt) continue
    const dueAt = new Date(scheduledAt.getTime() + toBurstDelayMs(takeRank(scheduledAt), burstLimits))
    warnings.set(other.row, warnOfBurst({ scheduledAt, dueAt, timezone }, burstLimits))
  }
  return warnings
}

/** Yields the items in turns with other requests, because a file can have many rows. */
async function* inTurns<T>(items: readonly T[]): AsyncGenerator<T> {
  const takeTurn = createTurns()
  for (const item of items) {
    await takeTurn()
    yield item
  }
}

async function toImport(
  { users }: CommandContext,
  {
    userId,
    importId,
    format,
    gapMinutes,
    timezone,
    source,
    now,
    removeAt,
    posts,
  }: RowContext & { posts: PlannedPosts },
): Promise<PostImport> {
  const user: User | null = await users.findById(userId)
  if (!user) throw new ServiceError('UNAUTHORIZED', 'Unauthorized')
  return {
    _id: importId,
    userId,
    state: 'planned',
    pausedBecause: null,
    format,
    gapMinutes,
    timezone,
    source,
    counts: NO_ROWS,
    posts,
    allowance: getAllowance('posts', user),
    options: null,
    createdAt: now,
    updatedAt: now,
    leasedUntil: now,
    removeAt,
  }
}

async function storeImport({ database, imports, users }: CommandContext, planned: PostImport): Promise<void> {
  await database.transaction(async (session) => {
    // Locks the user's record, so that the limit holds for concurrent requests.
    await users.raiseAnalyticsVersion(planned.userId, session)
    if (!(await imports.insert(planned, session))) throw limitReached()
  }, planned.userId)
}

function limitReached(): ServiceError {
  const message = `You have ${MAX_IMPORTS} imports. Delete one that you no longer need.`
  return new ServiceError('IMPORT_LIMIT_REACHED', message, { details: { limit: MAX_IMPORTS } })
}
