import { checkContent, toPartRules } from './preflight.ts'
import { failure, type Failure } from './failure.ts'
import type { KnownContent } from './media-files.ts'
import type { Part } from './parts.ts'
import type { PostingRules } from './posting-rules.ts'
import { platformLabel, type Platform } from '../shared/platforms.ts'

interface DueAccount {
  /** `lastError` is a sentence for users. */
  health: { status: 'active' | 'expired' | 'error'; lastError: string | null }
  /** The end of a login that cannot be renewed; null when it does not end. */
  endsAt: Date | null
}

/** A scheduled delivery, as far as its checks need it. */
interface DueDelivery {
  platform: Platform
  parts: readonly { kind: Part['kind']; content: KnownContent }[]
  dueAt: Date
  rules: PostingRules
  /** The account that would be used; null when none is connected. */
  account: DueAccount | null
}

/** Returns why a delivery would fail at its instant if nothing is changed, as far as stored data show it; null when nothing shows that. */
export function findObstacle({ platform, parts, dueAt, rules, account }: DueDelivery): Failure | null {
  const label = platformLabel(platform)
  if (!account) return failure('PLATFORM_NOT_CONNECTED', 'The platform is not connected')
  if (account.health.status !== 'active') {
    return failure('unauthorized', account.health.lastError ?? `The ${label} connection has expired`)
  }
  if (account.endsAt && account.endsAt <= dueAt) {
    return failure('unauthorized', `The ${label} login ends before the post is due`)
  }
  const [problem] = parts.flatMap(({ kind, content }) => checkContent(platform, content, toPartRules(kind, rules)))
  return problem ? failure('validation', problem.message) : null
}
