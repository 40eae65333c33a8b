import type { Actor } from '../../domain/users/audit.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { backgroundWorkflowId } from '../../workflows/contract/background-work.ts'
import { newAuditEntry } from '../shared/audit-entry.ts'
import type { CommandContext } from '../context.ts'

/**
 * Starts the collection of a dead letter again, with an entry in the audit log. The dead letter is removed on success.
 * @throws ServiceError NOT_FOUND; SERVICE_UNAVAILABLE when the workflow cannot be started
 */
export async function replayDeadLetter(deps: CommandContext, actor: Actor, letterId: string): Promise<void> {
  const letter = await deps.deadLetters.find(letterId)
  if (!letter) throw new ServiceError('NOT_FOUND', 'Dead letter not found')
  const { type, platform, postId, userId, count } = letter
  const before = { deadLetter: { type, platform, postId, count } }
  const replay = { action: 'replay-dead-letter', subjectId: userId, before, after: {} } as const
  await deps.database.transaction((session) =>
    deps.audit.insert(newAuditEntry(actor, deps.clock.now(), replay), session),
  )
  const summary = `Replay of a ${type} on ${platform}`
  await deps.orchestrator.terminateStuck(backgroundWorkflowId('replayDeadLetter', letterId))
  const isStarted = await deps.orchestrator.startWork('replayDeadLetter', letterId, { summary, fairnessKey: userId })
  if (!isStarted)
    throw new ServiceError('SERVICE_UNAVAILABLE', 'The replay could not be started. Try again in a moment.', {
      retryAfterSeconds: 2,
    })
}
