import type { Clock } from '../../clock.ts'
import type { PublishOrchestrator } from '../../integrations/temporal/orchestrator.ts'
import type { TokenCipher } from '../../security/token-cipher.ts'
import type { MailStore } from '../../store/notifications/mails.ts'
import { MAIL_SUMMARY, type MailKind } from '../../domain/notifications/mails.ts'
import { DAY } from '../../domain/shared/times.ts'
import { newId } from '../../store/shared/schema.ts'
import { sealMail, type MailContent } from './mail-secrets.ts'

/** How long it is kept what became of a mail. */
const KEPT_MS = 7 * DAY
/** One share for all who have no account: a flood of registrations keeps no user waiting. */
const NO_ACCOUNT_KEY = 'nobody'

export interface QueueMailDeps {
  mails: Pick<MailStore, 'insert'>
  cipher: TokenCipher
  orchestrator: Pick<PublishOrchestrator, 'startWork'>
  clock: Pick<Clock, 'now'>
}

interface NewMail extends MailContent {
  kind: MailKind
  userId: string | null
  /** How long it is worth sending. */
  lifeMs: number
}

/** Stores a mail, and has it sent. Without Temporal it goes out when the sweeper finds it. */
export async function queueMail(deps: QueueMailDeps, { kind, userId, lifeMs, ...content }: NewMail): Promise<void> {
  const now = deps.clock.now()
  const mailId = newId()
  await deps.mails.insert({
    _id: mailId,
    userId,
    kind,
    sealed: sealMail(deps.cipher, mailId, content),
    state: 'waiting',
    failure: null,
    worthUntil: new Date(now.getTime() + lifeMs),
    tendedUntil: now,
    createdAt: now,
    endedAt: null,
    removeAt: new Date(now.getTime() + KEPT_MS),
  })
  await deps.orchestrator.startWork('sendMail', mailId, { summary: MAIL_SUMMARY, fairnessKey: toFairnessKey(userId) })
}

/** Mails that no workflow looks after, for the sweeper. */
export function mailBacklog({ mails }: { mails: Pick<MailStore, 'listUnleased'> }) {
  return {
    work: 'sendMail' as const,
    summary: MAIL_SUMMARY,
    async listUnstarted(before: Date, limit: number) {
      const untended = await mails.listUnleased(before, limit)
      return untended.map(({ _id, userId }) => ({ id: _id, userId: toFairnessKey(userId) }))
    },
  }
}

function toFairnessKey(userId: string | null): string {
  return userId ?? NO_ACCOUNT_KEY
}
