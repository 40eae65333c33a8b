import type { Static } from '@sinclair/typebox'
import { countRows, type PostImport } from '../../domain/imports/imports.ts'
import type { ImportRow } from '../../store/imports/imports.ts'
import type { ImportRowView, ImportSchema } from './schema.ts'

export function presentImport(planned: PostImport): Static<typeof ImportSchema> {
  const { posts, allowance } = planned
  const needed = posts.drafts + posts.scheduled + posts.immediate
  return {
    id: planned._id,
    state: planned.state,
    pausedBecause: planned.pausedBecause,
    format: planned.format,
    gapMinutes: planned.gapMinutes,
    timezone: planned.timezone,
    rows: countRows(planned),
    counts: planned.counts,
    posts,
    allowance: { ...allowance, needed, missing: Math.max(0, allowance.used + needed - allowance.limit) },
    createdAt: planned.createdAt.toISOString(),
    updatedAt: planned.updatedAt.toISOString(),
    removeAt: planned.removeAt.toISOString(),
  }
}

export function presentImportRow({
  row,
  status,
  input,
  postId,
  errors,
  warnings,
  conflicts,
}: ImportRow): ImportRowView {
  return { row, status, post: input as object | null, postId, errors, warnings, conflicts }
}
