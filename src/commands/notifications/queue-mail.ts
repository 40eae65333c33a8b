import type { PublishOrchestrator } from '../../integrations/temporal/orchestrator.ts'
import type { Mail, MailStore } from '../../store/notifications/mails.ts'
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
  _id: string
  kind: MailKind
  userId: string | null
  /** How long after now the mail is still useful. */
  lifeMs: number
}

/** Returns the record of a mail, with its content encrypted. */
export function newMail(
  { cipher, clock }: Pick<CommandContext, 'cipher' | 'clock'>,
  { _id, kind, userId, lifeMs, ...content }: NewMail,
): Mail {
  const now = clock.now()
  return {
    _id,
    userId,
    kind,
    sealed: sealMail(cipher, _id, content),
    state: 'waiting',
    failure: null,
    expiresAt: new Date(now.getTime() + lifeMs),
    leasedUntil: now,
    createdAt: now,
    endedAt: null,
    removeAt: new Date(now.getTime() + RETENTION_MS),
  }
}

/** Stores a mail and starts its workflow. If Temporal does not answer, the sweeper starts it. */
export async function queueMail(deps: CommandContext, content: Omit<NewMail, '_id'>): Promise<void> {
  const mail = newMail(deps, { _id: newId(), ...content })
  await deps.mails.insert(mail)
  await startMail(deps.orchestrator, mail)
}

/** Starts the workflow of a stored mail. */
export async function startMail(
  orchestrator: PublishOrchestrator,
  { _id, userId }: Pick<Mail, '_id' | 'userId'>,
): Promise<void> {
  await orchestrator.startWork('sendMail', _id, { summary: MAIL_SUMMARY, fairnessKey: toFairnessKey(userId) })
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
