import type { MailStore } from '../../store/notifications/mails.ts'
import { MAIL_SUMMARY, type MailKind } from '../../domain/notifications/mails.ts'
import { DAY } from '../../domain/shared/times.ts'
import { newId } from '../../store/shared/schema.ts'
import { sealMail, type MailContent } from './mail-secrets.ts'
import type { CommandContext } from '../context.ts'

/** How long the outcome of a mail is stored. */
const RETENTION_MS = 7 * DAY
/** One key for all recipients without an account, so that a flood of registrations delays no user. */
const NO_ACCOUNT_KEY = 'no-account'

interface NewMail extends MailContent {
  kind: MailKind
  userId: string | null
  /** How long after now the mail is still useful. */
  lifeMs: number
}

/** Stores a mail and starts its workflow. If Temporal does not answer, the sweeper starts it. */
export async function queueMail(deps: CommandContext, { kind, userId, lifeMs, ...content }: NewMail): Promise<void> {
  const now = deps.clock.now()
  const mailId = newId()
  await deps.mails.insert({
    _id: mailId,
    userId,
    kind,
    sealed: sealMail(deps.cipher, mailId, content),
    state: 'waiting',
    failure: null,
    expiresAt: new Date(now.getTime() + lifeMs),
    leasedUntil: now,
    createdAt: now,
    endedAt: null,
    removeAt: new Date(now.getTime() + RETENTION_MS),
  })
  await deps.orchestrator.startWork('sendMail', mailId, { summary: MAIL_SUMMARY, fairnessKey: toFairnessKey(userId) })
}

/** Mails without a running workflow, for the sweeper. */
export function mailBacklog({ mails }: { mails: MailStore }) {
  return {
    work: 'sendMail' as const,
    summary: MAIL_SUMMARY,
    async listUnstarted(before: Date, limit: number) {
      const unleased = await mails.listUnleased(before, limit)
      return unleased.map(({ _id, userId }) => ({ id: _id, userId: toFairnessKey(userId) }))
    },
  }
}

function toFairnessKey(userId: string | null): string {
  return userId ?? NO_ACCOUNT_KEY
}
