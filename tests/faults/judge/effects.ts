import type { Platform } from '../../../src/domain/shared/platforms.ts'
import { toMatchKey, type Evidence, type PlatformEvidence, type Violation } from './evidence.ts'
import {
  findPublishRequestTime,
  isAcknowledged,
  isPublishRequested,
  listPossibleValues,
  toDueTime,
  type PostHistory,
} from './post-histories.ts'

/**
 * I1: a post has at most one record per platform, exactly one when it is `completed`, and none when it reports that there is none.
 * Posts with the same key are judged together.
 */
export function judgeEffects({ platforms }: Evidence, histories: PostHistory[]): Violation[] {
  return platforms.flatMap(({ platform, ledger }) => {
    const found: string[] = []
    const recordsByKey = Map.groupBy(ledger, ({ text }) => toMatchKey(text))
    const claimed = groupByClaimedRecord(histories, platform)
    for (const [id, owners] of claimed) {
      const names = owners.map(({ name }) => name).join(' and ')
      if (owners.length > 1) found.push(`${names} name the same record ${id} on ${platform}`)
      if (!ledger.some((record) => record.id === id)) {
        found.push(`${names} is completed, but ${platform} has no record ${id}`)
      }
    }
    for (const [key, records] of recordsByKey) {
      const owners = findOwners(histories, key, platform)
      const ids = records.map(({ id }) => id).join(', ')
      if (owners.length === 0) {
        found.push(`${platform} has ${ids} with the text "${key}", which no stored or acknowledged post has`)
      } else if (records.length > owners.length) {
        found.push(`${joinNames(owners)}: ${platform} has ${records.length} records, ${ids}`)
      } else {
        found.push(...findUnreportedRecords(platform, records, owners, claimed))
      }
    }
    return found.map((message) => ({ invariant: 'I1' as const, message }))
  })
}

/** Returns a message when there are more records without a post than posts that may have an unreported record. */
function findUnreportedRecords(
  platform: Platform,
  records: PlatformEvidence['ledger'],
  owners: PostHistory[],
  claimed: Map<string, PostHistory[]>,
): string[] {
  const unclaimed = records.filter(({ id }) => !claimed.has(id))
  const excused = owners.filter((post) => mayHaveUnreportedRecord(post, platform) || mustNotBePublished(post))
  if (unclaimed.length <= excused.length) return []
  const [record] = unclaimed
  const states = describeStates(owners, platform)
  return [`${joinNames(owners)}: ${platform} has ${record?.id}, but no post reports it (${states})`]
}

/** Returns whether the post is deleted, still open (which I2 checks), or failed with an unknown outcome. */
function mayHaveUnreportedRecord({ stored }: PostHistory, platform: Platform): boolean {
  const entry = stored?.platformStatuses.find((candidate) => candidate.platform === platform)
  if (!entry || entry.status === 'deleted') return true
  if (entry.status === 'failed') return entry.errorCode === 'OUTCOME_UNKNOWN'
  return (entry.status === 'pending' || entry.status === 'processing') && !isUnpublishedStatus(stored!.status)
}

/**
 * I3: no visible call begins after an acknowledged cancel or delete, before the due time, or with a text that an acknowledged edit
 * had replaced. Drafts and cancelled posts are on no platform.
 */
export function judgePublishCalls(evidence: Evidence, histories: PostHistory[]): Violation[] {
  const { platforms, leaseMs } = evidence
  const found: string[] = histories.flatMap(findIneffectiveCancels)
  for (const { platform, ledger, requests } of platforms) {
    for (const [key, records] of Map.groupBy(ledger, ({ text }) => toMatchKey(text))) {
      const owners = findOwners(histories, key, platform)
      const permitted = owners.filter((post) => !mustNotBePublished(post))
      if (records.length > owners.length || records.length <= permitted.length) continue
      const ids = records.map(({ id }) => id).join(', ')
      found.push(`${joinNames(owners)}: ${platform} has ${ids}, although ${describeStates(owners, platform)}`)
    }
    for (const { receivedAt, text } of requests) {
      if (text === undefined) continue
      const owners = findOwners(histories, toMatchKey(text), platform)
      const call = { at: Date.parse(receivedAt), platform, text }
      const objections = owners.map((post) => findObjection(call, post, leaseMs))
      if (objections.length === 0 || objections.includes(null)) continue
      found.push(`${joinNames(owners)}: a call to ${platform} began at ${receivedAt}, ${objections[0]}`)
    }
  }
  return found.map((message) => ({ invariant: 'I3', message }))
}

/** Returns why this call must not have been made for the post; null when it was permitted. */
function findObjection(
  call: { at: number; platform: Platform; text: string },
  post: PostHistory,
  leaseMs: number,
): string | null {
  const { cancels, deletes } = post
  const cancelled = cancels.find((cancel) => isAcknowledged(cancel) && cancel.answeredAt! < call.at)
  if (cancelled) return `after the acknowledged cancel of ${toIso(cancelled.answeredAt!)}`
  const deleted = deletes.find((operation) => isAcknowledged(operation) && operation.answeredAt! < call.at)
  if (deleted) {
    // A claim made before the delete permits a call until its lease ends. There is no claim before the due time.
    const dueTimes = listPossibleValues(post, toDueTime, deleted.answeredAt!)
    const wasDue = dueTimes.some((dueTime) => dueTime <= deleted.answeredAt!)
    if (!wasDue || call.at > deleted.answeredAt! + leaseMs) {
      return `after the acknowledged delete of ${toIso(deleted.answeredAt!)}`
    }
  }
  if (!isPublishRequested(post)) return 'although it is a draft'
  if (post.versions.length === 0) return null
  const dueTimes = listPossibleValues(post, toDueTime, call.at)
  const isEarly = dueTimes.length > 0 && dueTimes.every((dueTime) => dueTime > call.at)
  if (call.at < findPublishRequestTime(post) || isEarly) {
    return `before its due time ${dueTimes.map(toIso).join(' or ')}`
  }
  const texts = listPossibleTexts(post, call.platform, call.at)
  if (texts.length > 0 && !texts.includes(call.text)) {
    return `with "${call.text}" instead of the acknowledged text ${texts.map((text) => `"${text}"`).join(' or ')}`
  }
  return null
}

/** Returns the texts that a platform may receive at a time. An override replaces the common text. */
function listPossibleTexts(post: PostHistory, platform: Platform, at: number): string[] {
  const common = listPossibleValues(post, ({ input }) => input?.text, at)
  const overrides = listPossibleValues(
    post,
    ({ kind, input }) => input?.overrides ?? (kind === 'create' && input ? {} : undefined),
    at,
  ).map((byPlatform) => byPlatform[platform])
  return overrides.length === 0 ? common : overrides.flatMap((text) => text ?? common)
}

function findIneffectiveCancels({ name, cancels, stored }: PostHistory): string[] {
  const cancelled = cancels.find(isAcknowledged)
  if (!cancelled || !stored || stored.status === 'CANCELLED') return []
  return [`${name}: its cancel was acknowledged at ${toIso(cancelled.answeredAt!)}, but it is ${stored.status}`]
}

function mustNotBePublished(post: PostHistory): boolean {
  return (post.stored !== null && isUnpublishedStatus(post.stored.status)) || !isPublishRequested(post)
}

const isUnpublishedStatus = (status: string): boolean => status === 'CANCELLED' || status === 'DRAFT'

/** Groups the completed posts by the platform record that each names. */
function groupByClaimedRecord(histories: PostHistory[], platform: Platform): Map<string, PostHistory[]> {
  const found = new Map<string, PostHistory[]>()
  for (const post of histories) {
    const entry = post.stored?.platformStatuses.find((candidate) => candidate.platform === platform)
    if (entry?.status !== 'completed') continue
    const id = entry.platformPostId ?? 'without an id'
    found.set(id, [...(found.get(id) ?? []), post])
  }
  return found
}

const findOwners = (histories: PostHistory[], key: string, platform: Platform): PostHistory[] =>
  histories.filter((post) => post.keys.has(key) && post.platforms.has(platform))

const joinNames = (histories: PostHistory[]): string => histories.map(({ name }) => name).join(', ')

function describeStates(histories: PostHistory[], platform: Platform): string {
  return histories
    .map(({ stored }) => {
      const entry = stored?.platformStatuses.find((candidate) => candidate.platform === platform)
      if (!stored) return 'it is not stored'
      return `it is ${stored.status}, ${entry ? `its delivery ${entry.status}` : 'without a delivery to it'}`
    })
    .join(' and ')
}

const toIso = (at: number): string => new Date(at).toISOString()
