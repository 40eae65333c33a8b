import { resolveGroups, type AccountGroup } from '../../domain/accounts/groups.ts'
import {
  listSlots,
  MAX_SEARCHED_SLOTS,
  NEXT_SLOT,
  noSlots,
  type SlotPlan,
  type TakenSlot,
} from '../../domain/posts/slots.ts'
import { ServiceError, validationFailed } from '../../domain/shared/service-error.ts'
import { SECOND } from '../../domain/shared/times.ts'
import { createFairLimit, QueueFull } from '../../flow/fair-limit.ts'
import { isDuplicateKey } from '../../store/mongo-errors.ts'
import { findDefault } from '../../store/accounts/accounts.ts'
import type { CommandContext } from '../context.ts'
import type { PostInput } from './post-input.ts'

type Selected = Pick<PostInput, 'selectedGroups' | 'selectedAccounts' | 'selectedPlatforms'>

/** Posts of other processes that may take the found slot, one after the other, while a post is stored. */
const MAX_TRIES = 20
const MAX_CONCURRENT = 50
const MAX_WAITING_PER_USER = 100
/** Within the time of a request, with that of the store. */
const MAX_WAIT_MS = 4 * SECOND
/** Slots that are compared with the scheduled posts in one read. */
const CHUNK = 100

/**
 * Finds the next free slot of the first group, further account or default account of a post that has slots, or else of a group with all its
 * accounts. Any scheduled post on an account of the slot takes it. Whoever stores the post may find it taken meanwhile, and asks again.
 * @throws ServiceError VALIDATION_FAILED when none of them has a free slot
 */
async function findNextSlot(deps: CommandContext, userId: string, selected: Selected): Promise<TakenSlot> {
  const { plans, groups, accountsOf } = await loadPlans(deps, userId)
  const ids = plans.length === 0 ? [] : await listTargets(deps, userId, selected, groups)
  const [plan] = ids.flatMap((id) => plans.find((one) => one.id === id) ?? [])
  if (!plan) throw validationFailed([noSlots()])
  const range = { plan, accountIds: accountsOf(plan), after: deps.clock.now() }
  let searched = 0
  for await (const { at, postId } of listWithPosts(deps, userId, range)) {
    if (postId === null) return { slotOf: plan.id, at }
    searched += 1
    if (searched === MAX_SEARCHED_SLOTS) break
  }
  const message = `The next ${searched} slots are taken. Set more of them, or name a time.`
  throw validationFailed([{ path: 'scheduledAt', code: 'NO_FREE_SLOT', message }])
}

/**
 * Finds the slot of a post whose input asks for one; null for any other post.
 * @throws ServiceError VALIDATION_FAILED
 */
export async function findWantedSlot(
  deps: CommandContext,
  userId: string,
  { scheduledAt, status, ...selected }: Pick<PostInput, 'scheduledAt' | 'status'> & Selected,
): Promise<TakenSlot | null> {
  if (scheduledAt !== NEXT_SLOT) return null
  if (status !== 'DRAFT') return findNextSlot(deps, userId, selected)
  const message = 'A draft takes no slot. Send next-slot when you publish it.'
  throw validationFailed([{ path: 'scheduledAt', code: 'SLOT_OF_DRAFT', message }])
}

const takeTurn = createFairLimit({ maxRunning: MAX_CONCURRENT, perKey: 1, waitingPerKey: MAX_WAITING_PER_USER })

/**
 * Stores a post that may ask for a slot, once more when another post has taken the found one meanwhile. Such posts of one user are stored one
 * after the other: together, all but one would have to be stored again. One that waits too long is not stored, because its request has ended.
 * @throws ServiceError RATE_LIMITED, or the error of `store`
 */
export async function storeInSlot<T>(
  userId: string,
  { scheduledAt }: Pick<PostInput, 'scheduledAt'>,
  store: () => Promise<T>,
): Promise<T> {
  if (scheduledAt !== NEXT_SLOT) return store()
  const timeout = AbortSignal.timeout(MAX_WAIT_MS)
  return takeTurn(userId, () => storeOnce(store), { signal: timeout }).catch((cause: unknown) => {
    if (!(cause instanceof QueueFull) && cause !== timeout.reason) throw cause
    const message = 'Other posts of yours are taking slots. Try again in a few seconds.'
    throw new ServiceError('RATE_LIMITED', message, { cause, retryAfterSeconds: MAX_WAIT_MS / SECOND })
  })
}

async function storeOnce<T>(store: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await store()
    } catch (error) {
      if (!isDuplicateKey(error, ['slotOf']) || tries === MAX_TRIES) throw error
    }
  }
}

/** A slot with the post that takes it; null while it is free. */
export interface UpcomingSlot {
  plan: SlotPlan
  at: Date
  postId: string | null
}

/** Lists the slots of all plans in a range, in order. */
export async function listUpcomingSlots(
  deps: CommandContext,
  userId: string,
  { from, to }: { from: Date; to: Date },
): Promise<UpcomingSlot[]> {
  const { plans, accountsOf } = await loadPlans(deps, userId)
  const now = deps.clock.now()
  const after = from > now ? new Date(from.getTime() - 1) : now
  const slots: UpcomingSlot[] = []
  for (const plan of plans) {
    const range = { plan, accountIds: accountsOf(plan), after, to }
    for await (const slot of listWithPosts(deps, userId, range)) slots.push({ plan, ...slot })
  }
  return slots.toSorted((a, b) => a.at.getTime() - b.at.getTime())
}

interface SlotRange {
  plan: SlotPlan
  accountIds: string[]
  after: Date
  to?: Date
}

async function* listWithPosts({ posts }: CommandContext, userId: string, { plan, accountIds, after, to }: SlotRange) {
  let chunk: Date[] = []
  for (const at of listSlots(plan, after)) {
    if (to && at > to) break
    if (chunk.push(at) < CHUNK) continue
    yield* withPosts(chunk)
    chunk = []
  }
  yield* withPosts(chunk)

  async function* withPosts(slots: Date[]) {
    const taken = await posts.findTakenSlots(userId, { slotOf: plan.id, slots, accountIds })
    for (const at of slots) yield { at, postId: taken.get(at.getTime()) ?? null }
  }
}

/** Returns the ids of the groups and accounts that a post names, in the order in which their slots count. */
async function listTargets(
  { accounts }: CommandContext,
  userId: string,
  { selectedGroups = [], selectedAccounts = [], selectedPlatforms = [] }: Selected,
  groups: readonly AccountGroup[],
): Promise<string[]> {
  const connected = await accounts.listConnected(userId)
  const named = resolveGroups(groups, selectedGroups, { path: 'selectedGroups' }).found
  const defaults = selectedPlatforms.flatMap((platform) => findDefault(connected, platform)?._id ?? [])
  const single = [...selectedAccounts, ...defaults]
  const having = groups.filter(({ accountIds }) => single.length > 0 && single.every((id) => accountIds.includes(id)))
  return [...named.map(({ id }) => id), ...single, ...having.map(({ _id }) => _id)]
}

/** Reads the slots of a user, and which accounts they are for: a group may have changed since. */
async function loadPlans(deps: CommandContext, userId: string) {
  const [{ plans }, groups] = await Promise.all([deps.slots.find(userId), deps.groups.listOf(userId)])
  const accountsOf = ({ id, kind }: SlotPlan): string[] =>
    kind === 'account' ? [id] : (groups.find(({ _id }) => _id === id)?.accountIds ?? [])
  return { plans, groups, accountsOf }
}
