import type { Clock } from '../clock.ts'
import type { Actor } from '../domain/audit.ts'
import { ServiceError } from '../domain/service-error.ts'
import type { PublishOrchestrator } from '../integrations/orchestrator.ts'
import type { AuditLog } from '../store/audit.ts'
import type { Database } from '../store/database.ts'
import type { DeadLetterStore } from '../store/dead-letters.ts'
import { newId } from '../store/schema-options.ts'

export interface ReplayDeadLetterDeps {
  database: Pick<Database, 'transaction'>
  deadLetters: Pick<DeadLetterStore, 'find'>
  audit: Pick<AuditLog, 'insert'>
  orchestrator: Pick<PublishOrchestrator, 'startWork'>
  clock: Pick<Clock, 'now'>
}

/**
 * Has taken up again what could not be collected, with a line in the audit log. The letter goes when that succeeds.
 * @throws ServiceError NOT_FOUND; SERVICE_UNAVAILABLE while nobody can take it up
 */
export async function replayDeadLetter(deps: ReplayDeadLetterDeps, actor: Actor, letterId: string): Promise<void> {
  const letter = await deps.deadLetters.find(letterId)
  if (!letter) throw new ServiceError('NOT_FOUND', 'Dead letter not found')
  const { type, platform, postId, userId, count } = letter
  await deps.database.transaction((session) =>
    deps.audit.insert(
      {
        _id: newId(),
        at: deps.clock.now(),
        actorId: actor.id,
        action: 'replay-dead-letter',
        subjectId: userId,
        before: { deadLetter: { type, platform, postId, count } },
        after: {},
        requestId: actor.requestId,
        ipAddress: actor.ipAddress,
      },
      session,
    ),
  )
  const summary = `Replay of a ${type} on ${platform}`
  const isStarted = await deps.orchestrator.startWork('replayDeadLetter', letterId, { summary, fairnessKey: userId })
  if (!isStarted)
    throw new ServiceError('SERVICE_UNAVAILABLE', 'It could not be taken up, try again', { retryAfterSeconds: 2 })
}
