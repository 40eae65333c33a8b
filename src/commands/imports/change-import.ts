import {
  assertApplicable,
  hasPublications,
  moveImport,
  type ApplyOptions,
  type ImportMove,
  type PostImport,
} from '../../domain/imports/imports.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import type { ImportStore } from '../../store/imports/imports.ts'
import { IMPORT_SUMMARY } from '../../workflows/contract/imports.ts'
import type { CommandContext } from '../context.ts'

export interface ChangeImport {
  userId: string
  importId: string
  move: ImportMove
  /** How the import is applied; only `apply` has it. */
  options?: ApplyOptions
  /** Throws when the caller may create drafts only. Called before an import begins or continues to create other posts. */
  assertMayPublish: () => void
}

/**
 * Changes the state of an import. A repeated call changes nothing. The workflow of an import that begins or continues is started, by the
 * sweeper if Temporal does not answer.
 * @throws ServiceError NOT_FOUND, IMPORT_STATE, IMPORT_HAS_ERRORS, or the error of `assertMayPublish`
 */
export async function changeImport(deps: CommandContext, request: ChangeImport): Promise<PostImport> {
  const { userId, importId, move, options, assertMayPublish } = request
  for (;;) {
    const current = await deps.imports.findOwned(userId, importId)
    if (!current) throw importNotFound()
    const state = moveImport(current.state, move)
    const isStarting = move === 'apply' || move === 'resume'
    if (isStarting && hasPublications(current)) assertMayPublish()
    if (options && current.state === 'planned') assertApplicable(current, options)
    const now = deps.clock.now()
    const changed =
      state === current.state
        ? current
        : await deps.imports.changeIf(current, current.state, {
            state,
            pausedBecause: null,
            updatedAt: now,
            leasedUntil: now,
            ...(options && { options }),
          })
    // Another request changed the state meanwhile.
    if (!changed) continue
    if (isStarting && changed.state === 'applying') await deps.orchestrator.wakeImport(importId, userId)
    return changed
  }
}

/** Deletes an import in any state. Its posts stay, and no more are created. */
export async function deleteImport(
  { imports }: { imports: ImportStore },
  userId: string,
  importId: string,
): Promise<void> {
  if (!(await imports.remove(userId, importId))) throw importNotFound()
}

export function importNotFound(): ServiceError {
  return new ServiceError('NOT_FOUND', 'Import not found')
}

/** Imports that should be applied and have no running workflow, for the sweeper. */
export function importBacklog({ imports }: { imports: ImportStore }) {
  return {
    work: 'applyImport' as const,
    summary: IMPORT_SUMMARY,
    async listUnstarted(before: Date, limit: number) {
      const unleased = await imports.listUnleased(before, limit)
      return unleased.map(({ _id, userId }) => ({ id: _id, userId }))
    },
  }
}
