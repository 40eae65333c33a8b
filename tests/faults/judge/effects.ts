import { toTarget } from '../../../src/domain/posts/targets.ts'
import {
  toMatchKey,
  type Evidence,
  type Operation,
  type PlatformEvidence,
  type StopBody,
  type StoredPost,
  type Violation,
} from './evidence.ts'
import {
  findPublishRequestTime,
  isAcknowledged,
  isPublishRequested,
  listPossibleValues,
  toDueTime,
  type PostHistory,
} from './post-histories.ts'

/** Where posts are published: on the default accounts of a platform, or on one further account. */
type Place = Pick<PlatformEvidence, 'platform' | 'target'>

/**
 * I1: a post has at most one record per account, exactly one when it is `completed`, and none when it reports that there is none.
 * Posts with the same key are judged together.
 */
export function judgeEffects({ platforms }: Evidence, histories: PostHistory[]): Violation[] {
  return platforms.flatMap(({ ledger, ...place }) => {
    const found: string[] = []
    const where = nameOf(place)
    const recordsByKey = Map.groupBy(ledger, ({ text }) => toMatchKey(text))
    const claimed = groupByClaimedRecord(histories, place)
    for (const [id, owners] of claimed) {
      const names = owners.map(({ name }) => name).join(' and ')
      if (owners.length > 1) found.push(`${names} name the same record ${id} on ${where}`)
      if (!ledger.some((record) => record.id === id)) {
        found.push(`${names} is completed, but ${where} has no record ${id}`)
      }
    }
    for (const [key, records] of recordsByKey) {
      const owners = findOwners(histories, key, place)
      const ids = records.map(({ id }) => id).join(', ')
      if (owners.length === 0) {
        found.push(`${where} has ${ids} with the text "${key}", which no stored or acknowledged post has`)
      } else if (records.length > owners.length) {
        found.push(`${joinNames(owners)}: ${where} has ${records.length} records, ${ids}`)
      } else {
        found.push(...findUnreportedRecords(place, records, owners, claimed))
      }
    }
    return found.map((message) => ({ invariant: 'I1' as const, message }))
  })
}

/** Returns a message when there are more records without a post than posts that may have an unreported record. */
function findUnreportedRecords(
  place: Place,
  records: PlatformEvidence['ledger'],
  owners: PostHistory[],
  claimed: Map<string, PostHistory[]>,
): string[] {
  const unclaimed = records.filter(({ id }) => !claimed.has(id))
  const excused = owners.filter((post) => mayHaveUnreportedRecord(post, place) || mustNotBePublished(post))
  if (unclaimed.length <= excused.length) return []
  const [record] = unclaimed
  const states = describeStates(owners, place)
  return [`${joinNames(owners)}: ${nameOf(place)} has ${record?.id}, but no post reports it (${states})`]
}

/** Returns whether the post is deleted, still open (which I2 checks), or failed with an unknown outcome. */
function mayHaveUnreportedRecord({ stored }: PostHistory, place: Place): boolean {
  const entry = findEntry(stored, place)
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
  for (const { ledger, requests, ...place } of platforms) {
    const where = nameOf(place)
    for (const [key, records] of Map.groupBy(ledger, ({ text }) => toMatchKey(text))) {
      const owners = findOwners(histories, key, place)
      const permitted = owners.filter((post) => !mustNotBePublished(post))
      if (records.length > owners.length || records.length <= permitted.length) continue
      const ids = records.map(({ id }) => id).join(', ')
      found.push(`${joinNames(owners)}: ${where} has ${ids}, although ${describeStates(owners, place)}`)
    }
    for (const { receivedAt, text } of requests) {
      if (text === undefined) continue
      const owners = findOwners(histories, toMatchKey(text), place)
      const call = { at: Date.parse(receivedAt), place, text }
      const objections = owners.map((post) => findObjection(call, post, leaseMs))
      if (objections.length === 0 || objections.includes(null)) continue
      found.push(`${joinNames(owners)}: a call to ${where} began at ${receivedAt}, ${objections[0]}`)
    }
  }
  return found.map((message) => ({ invariant: 'I3', message }))
}

/** Returns why this call must not have been made for the post; null when it was permitted. */
function findObjection(
  call: { at: number; place: Place; text: string },
  post: PostHistory,
  leaseMs: number,
): string | null {
  const { cancels, deletes } = post
  const cancelled = [...cancels, ...findStops(post, call)].find(
    (cancel) => isAcknowledged(cancel) && cancel.answeredAt! < call.at,
  )
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
  const texts = listPossibleTexts(post, call.place, call.at)
  if (texts.length > 0 && !texts.includes(call.text)) {
    return `with "${call.text}" instead of the acknowledged text ${texts.map((text) => `"${text}"`).join(' or ')}`
  }
  return null
}

/** Returns the stops of a delivery after which the user did not retry it before the call. */
function findStops({ stops, retries }: PostHistory, { at, place }: { at: number; place: Place }): Operation[] {
  return stops.filter(
    ({ body, sentAt }) =>
      (body as Partial<StopBody> | undefined)?.stopped?.includes(place.platform) &&
      !retries.some((retry) => retry.sentAt > sentAt && retry.sentAt < at),
  )
}

/** Returns the texts that may be published at a time. The override of an account replaces that of its platform, and this the common text. */
function listPossibleTexts(post: PostHistory, place: Place, at: number): string[] {
  const common = listPossibleValues(post, ({ input }) => input?.text, at)
  const overrides = listPossibleValues(
    post,
    ({ kind, input }) => input?.overrides ?? (kind === 'create' && input ? {} : undefined),
    at,
  ).map((byTarget) => byTarget[toTarget(place)] ?? byTarget[place.platform])
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
function groupByClaimedRecord(histories: PostHistory[], place: Place): Map<string, PostHistory[]> {
  const found = new Map<string, PostHistory[]>()
  for (const post of histories) {
    const entry = findEntry(post.stored, place)
    if (entry?.status !== 'completed') continue
    const id = entry.platformPostId ?? 'without an id'
    found.set(id, [...(found.get(id) ?? []), post])
  }
  return found
}

const findOwners = (histories: PostHistory[], key: string, place: Place): PostHistory[] =>
  histories.filter((post) => post.keys.has(key) && post.targets.has(toTarget(place)))

const findEntry = (stored: StoredPost | null, place: Place) =>
  stored?.platformStatuses.find((entry) => toTarget(entry) === toTarget(place))

const nameOf = ({ platform, target }: Place): string => (target === undefined ? platform : `${platform} (${target})`)

const joinNames = (histories: PostHistory[]): string => histories.map(({ name }) => name).join(', ')

function describeStates(histories: PostHistory[], place: Place): string {
  return histories
    .map(({ stored }) => {
      const entry = findEntry(stored, place)
      if (!stored) return 'it is not stored'
      return `it is ${stored.status}, ${entry ? `its delivery ${entry.status}` : 'without a delivery to it'}`
    })
    .join(' and ')
}

const toIso = (at: number): string => new Date(at).toISOString()
