import type { Platform } from '../../../src/domain/shared/platforms.ts'
import { keyOf, type Evidence, type PlatformEvidence, type Violation } from './evidence.ts'
import { instantOf, isDone, isMeantToGoOut, possibleAt, publishedFrom, type Story } from './stories.ts'

/**
 * I1: at most one accepted effect for each post and platform, exactly one if it says `completed`, and none where the user
 * is informed that there is none. Posts with the same words are judged together.
 */
export function judgeEffects({ platforms }: Evidence, stories: Story[]): Violation[] {
  return platforms.flatMap(({ platform, ledger }) => {
    const found: string[] = []
    const records = Map.groupBy(ledger, ({ text }) => keyOf(text))
    const claimed = claims(stories, platform)
    for (const [id, owners] of claimed) {
      const names = owners.map(({ name }) => name).join(' and ')
      if (owners.length > 1) found.push(`${names} name the same record ${id} on ${platform}`)
      if (!ledger.some((record) => record.id === id)) {
        found.push(`${names} is completed, but ${platform} has no record ${id}`)
      }
    }
    for (const [key, entries] of records) {
      const owners = ownersOf(stories, key, platform)
      const ids = entries.map(({ id }) => id).join(', ')
      if (owners.length === 0) {
        found.push(`${platform} has ${ids} with the words "${key}", which no stored or acknowledged post asked for`)
      } else if (entries.length > owners.length) {
        found.push(`${namesOf(owners)}: ${platform} has ${entries.length} records, ${ids}`)
      } else {
        found.push(...untruths(platform, entries, owners, claimed))
      }
    }
    return found.map((sentence) => ({ invariant: 'I1' as const, sentence }))
  })
}

/** Records that their posts know nothing of, although nothing was in doubt. */
function untruths(
  platform: Platform,
  entries: PlatformEvidence['ledger'],
  owners: Story[],
  claimed: Map<string, Story[]>,
): string[] {
  const unclaimed = entries.filter(({ id }) => !claimed.has(id))
  const knowing = owners.filter((story) => mayBeUnawareOf(story, platform) || isForbidden(story))
  if (unclaimed.length <= knowing.length) return []
  const [record] = unclaimed
  return [`${namesOf(owners)}: ${platform} has ${record?.id}, but no post says so (${statesOf(owners, platform)})`]
}

/** Deleted, still open (which I2 checks), or reported as unknown. */
function mayBeUnawareOf({ stored }: Story, platform: Platform): boolean {
  const entry = stored?.platformStatuses.find((candidate) => candidate.platform === platform)
  if (!entry || entry.status === 'deleted') return true
  if (entry.status === 'failed') return entry.errorCode === 'OUTCOME_UNKNOWN'
  return (entry.status === 'pending' || entry.status === 'processing') && !isForbiddenStatus(stored!.status)
}

/**
 * I3: no visible call begins after an acknowledged cancel or delete, nor before the instant, nor with words that an
 * acknowledged edit had replaced; drafts and cancelled posts are nowhere.
 */
export function judgeInstants(evidence: Evidence, stories: Story[]): Violation[] {
  const { platforms, leaseMs } = evidence
  const found: string[] = stories.flatMap(cancelsThatWereNone)
  for (const { platform, ledger, requests } of platforms) {
    for (const [key, entries] of Map.groupBy(ledger, ({ text }) => keyOf(text))) {
      const owners = ownersOf(stories, key, platform)
      const permitted = owners.filter((story) => !isForbidden(story))
      if (entries.length > owners.length || entries.length <= permitted.length) continue
      const ids = entries.map(({ id }) => id).join(', ')
      found.push(`${namesOf(owners)}: ${platform} has ${ids}, although ${statesOf(owners, platform)}`)
    }
    for (const { receivedAt, text } of requests) {
      if (text === undefined) continue
      const owners = ownersOf(stories, keyOf(text), platform)
      const call = { at: Date.parse(receivedAt), platform, text }
      const objections = owners.map((story) => objectionTo(call, story, leaseMs))
      if (objections.length === 0 || objections.includes(null)) continue
      found.push(`${namesOf(owners)}: a call to ${platform} began at ${receivedAt}, ${objections[0]}`)
    }
  }
  return found.map((sentence) => ({ invariant: 'I3', sentence }))
}

/** Why this call should not have been made for that post; null when nothing speaks against it. */
function objectionTo(
  call: { at: number; platform: Platform; text: string },
  story: Story,
  leaseMs: number,
): string | null {
  const { cancels, deletes } = story
  const cancelled = cancels.find((cancel) => isDone(cancel) && cancel.answeredAt! < call.at)
  if (cancelled) return `after the acknowledged cancel of ${iso(cancelled.answeredAt!)}`
  const deleted = deletes.find((operation) => isDone(operation) && operation.answeredAt! < call.at)
  if (deleted) {
    // A claim that came before the delete may still be sent under its lease; ahead of the instant there is no claim.
    const wasDue = possibleAt(story, instantOf, deleted.answeredAt!).some((instant) => instant <= deleted.answeredAt!)
    if (!wasDue || call.at > deleted.answeredAt! + leaseMs) {
      return `after the acknowledged delete of ${iso(deleted.answeredAt!)}`
    }
  }
  if (!isMeantToGoOut(story)) return 'and it is a draft'
  if (story.versions.length === 0) return null
  const instants = possibleAt(story, instantOf, call.at)
  if (call.at < publishedFrom(story) || (instants.length > 0 && instants.every((instant) => instant > call.at))) {
    return `before its instant ${instants.map(iso).join(' or ')}`
  }
  const texts = wordsAt(story, call.platform, call.at)
  if (texts.length > 0 && !texts.includes(call.text)) {
    return `with "${call.text}" where an acknowledged edit says ${texts.map((text) => `"${text}"`).join(' or ')}`
  }
  return null
}

/** The texts that a platform may receive at a time: an override replaces the common text. */
function wordsAt(story: Story, platform: Platform, at: number): string[] {
  const common = possibleAt(story, ({ wish }) => wish?.text, at)
  const own = possibleAt(
    story,
    ({ kind, wish }) => wish?.overrides ?? (kind === 'create' && wish ? {} : undefined),
    at,
  ).map((overrides) => overrides[platform])
  return own.length === 0 ? common : own.flatMap((words) => words ?? common)
}

function cancelsThatWereNone({ name, cancels, stored }: Story): string[] {
  const cancelled = cancels.find(isDone)
  if (!cancelled || !stored || stored.status === 'CANCELLED') return []
  return [`${name}: its cancel was acknowledged at ${iso(cancelled.answeredAt!)}, yet it is ${stored.status}`]
}

/** What must not be on any platform. */
function isForbidden(story: Story): boolean {
  return (story.stored !== null && isForbiddenStatus(story.stored.status)) || !isMeantToGoOut(story)
}

const isForbiddenStatus = (status: string): boolean => status === 'CANCELLED' || status === 'DRAFT'

/** Which posts say that a record is theirs. */
function claims(stories: Story[], platform: Platform): Map<string, Story[]> {
  const found = new Map<string, Story[]>()
  for (const story of stories) {
    const entry = story.stored?.platformStatuses.find((candidate) => candidate.platform === platform)
    if (entry?.status !== 'completed') continue
    const id = entry.platformPostId ?? 'without an id'
    found.set(id, [...(found.get(id) ?? []), story])
  }
  return found
}

const ownersOf = (stories: Story[], key: string, platform: Platform): Story[] =>
  stories.filter((story) => story.keys.has(key) && story.platforms.has(platform))

const namesOf = (stories: Story[]): string => stories.map(({ name }) => name).join(', ')

function statesOf(stories: Story[], platform: Platform): string {
  return stories
    .map(({ stored }) => {
      const entry = stored?.platformStatuses.find((candidate) => candidate.platform === platform)
      return stored ? `it is ${stored.status}, ${entry?.status ?? 'not for it'} there` : 'it is gone'
    })
    .join(' and ')
}

const iso = (at: number): string => new Date(at).toISOString()
