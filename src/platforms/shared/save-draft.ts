import { SECOND } from '../../domain/shared/times.ts'
import type { CallOptions } from '../contract.ts'
import { CheckpointUnknown } from '../errors.ts'

const REMOVE_TIMEOUT_MS = 5 * SECOND

/** Stores the id of a draft. If that is refused, the draft is deleted, since nothing would ever publish or delete it. */
export async function saveDraft(
  save: () => Promise<void>,
  remove: (options: CallOptions) => Promise<void>,
): Promise<void> {
  try {
    await save()
  } catch (error) {
    // guard: draft that may be stored
    if (error instanceof CheckpointUnknown) throw error
    await remove({ signal: AbortSignal.timeout(REMOVE_TIMEOUT_MS) }).catch(() => undefined)
    throw error
  }
}
