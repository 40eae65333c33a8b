import { createHash } from 'node:crypto'
import { toCellProblem } from '../../domain/imports/csv-rows.ts'
import {
  listCreatable,
  PLANNED_STATUSES,
  toRowKey,
  type PauseReason,
  type PostImport,
} from '../../domain/imports/imports.ts'
import { splitIntoChunks } from '../../domain/shared/lists.ts'
import { ServiceError, type Problem } from '../../domain/shared/service-error.ts'
import { MINUTE, SECOND } from '../../domain/shared/times.ts'
import type { User } from '../../domain/users/user.ts'
import type { ImportRow, RowResult } from '../../store/imports/imports.ts'
import { createPost, findIdempotentResult } from '../posts/create-post.ts'
import type { WholePostInput } from '../posts/post-input.ts'
import type { CommandContext } from '../context.ts'

/** Rows of one call. A paused import ends within them. */
const BATCH = 25
/** The posts of one user that share a transaction, see `store-post.ts`. */
const CONCURRENT = 5
/** A batch begins no further rows after this time: rows may wait for the servers of their files. */
const BATCH_MS = 30 * SECOND
/** Longer than the longest time between two batches. */
const LEASE_MS = 3 * MINUTE

/**
 * Creates the posts of the next rows of an import. Every call may be killed and repeated: the idempotency key of a row is derived from the
 * import, so each row creates one post.
 * @returns true when rows may be left, and false when the import has ended or was paused, cancelled or deleted
 */
export async function applyRows(deps: CommandContext, userId: string, importId: string): Promise<boolean> {
  const { clock, imports } = deps
  const current = await imports.lease(userId, importId, new Date(clock.now().getTime() + LEASE_MS))
  if (!current?.options) return false
  const user = await deps.users.findById(userId)
  if (!user || user.isDisabled) return pause(deps, current, 'ACCOUNT_DISABLED')
  const statuses = listCreatable(current.options)
  const rows = (await imports.listRows(userId, importId, { after: 0, limit: BATCH, statuses })) as PlannedRow[]
  if (rows.length === 0) return complete(deps, current)

  const created = await createPosts(deps, { user, ...current }, rows)
  await imports.recordResults(userId, importId, created.results)
  await imports.updateCounts(userId, importId, clock.now())
  if (created.failure) throw created.failure
  return created.isLimitReached ? pause(deps, current, 'POST_LIMIT_REACHED') : true
}

type PlannedRow = ImportRow<WholePostInput>

interface Owner extends Pick<PostImport, 'source' | 'format'> {
  user: User
}

/** Creates posts until the allowance is used up or an error concerns more than its row. What was created is in the results. */
async function createPosts(deps: CommandContext, owner: Owner, rows: readonly PlannedRow[]) {
  const results: RowResult[] = []
  const startedAt = deps.clock.now().getTime()
  for (const some of splitIntoChunks(rows, CONCURRENT)) {
    const settled = await Promise.allSettled(some.map((row) => createRow(deps, owner, row)))
    const values = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    results.push(...values.filter((value) => value !== 'limit-reached'))
    const failed = settled.find((one) => one.status === 'rejected')
    if (failed) return { results, failure: failed.reason as Error, isLimitReached: false }
    if (values.includes('limit-reached')) return { results, failure: null, isLimitReached: true }
    if (deps.clock.now().getTime() - startedAt >= BATCH_MS) break
  }
  return { results, failure: null, isLimitReached: false }
}

async function createRow(
  deps: CommandContext,
  { user, source, format }: Owner,
  { importId, row, input, planned }: PlannedRow,
): Promise<RowResult | 'limit-reached'> {
  if (!input) return { row, status: 'failed', errors: [] }
  const requestHash = createHash('sha256').update(JSON.stringify(input)).digest('base64url')
  const idempotency = { key: toRowKey(importId, row), requestHash }
  try {
    const first = await findIdempotentResult(deps, user._id, idempotency)
    const metadata = { source, client: 'import' } as const
    const owner = { userId: user._id, plan: user.subscription.plan, defaultHoldSeconds: user.holdSeconds }
    const request = { ...owner, input, metadata, idempotency, planned }
    const { postId } = first ?? (await createPost(deps, request)).data
    return { row, status: 'created', postId }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    if (error.code === 'POST_LIMIT_REACHED') return 'limit-reached'
    if (error.statusCode >= 500 || error.code === 'RATE_LIMITED') throw error
    const errors = toProblems(error)
    return { row, status: 'failed', errors: format === 'csv' ? errors.map(toCellProblem) : errors }
  }
}

function toProblems({ code, message, errors }: ServiceError): Problem[] {
  return errors ?? [{ path: '', code, message }]
}

async function pause({ imports, clock }: CommandContext, current: PostImport, why: PauseReason): Promise<false> {
  await imports.changeIf(current, 'applying', { state: 'paused', pausedBecause: why, updatedAt: clock.now() })
  return false
}

async function complete({ imports, clock }: CommandContext, current: PostImport): Promise<false> {
  const { userId, _id } = current
  await imports.skipRows(userId, _id, PLANNED_STATUSES)
  await imports.updateCounts(userId, _id, clock.now())
  await imports.changeIf(current, 'applying', { state: 'completed', updatedAt: clock.now() })
  return false
}
