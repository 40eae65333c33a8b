import type { SubscriptionPlan } from '../../domain/billing/subscription.ts'
import { correctTypes, NO_FILES } from '../../domain/posts/media-files.ts'
import { newPost, toChosen } from '../../domain/posts/post-moves.ts'
import type { FirstResponse, Post, PostMetadata } from '../../domain/posts/post.ts'
import { preflight, findSchedulingProblem, type PastTime } from '../../domain/posts/preflight.ts'
import { ServiceError, type Problem } from '../../domain/shared/service-error.ts'
import { isDuplicateKey } from '../../store/mongo-errors.ts'
import type { PostStore } from '../../store/posts/posts.ts'
import { newId } from '../../store/shared/schema.ts'
import { findDueOrder } from './due-order.ts'
import { findDelayWarnings } from './forecast-delays.ts'
import { holdMedia } from './hold-media.ts'
import { leaveOut } from './left-out.ts'
import { hasSources, storeSources } from './media-sources.ts'
import { loadPostAccounts, type RecordedTargets } from './post-accounts.ts'
import { readWholePost, refuseProblem, refuseProblems, toInputContext, type WholePostInput } from './post-input.ts'
import { findWantedSlot, storeInSlot } from './find-slots.ts'
import { readMediaFiles } from './read-media-files.ts'
import type { CommandContext } from '../context.ts'

/** The client's key for a repeatable create, with the hash of its request body. */
export interface Idempotency {
  key: string
  requestHash: string
}

export interface CreatePostRequest {
  userId: string
  /** The plan of the user, Free by default. It decides the share of the post's workflow. */
  plan?: SubscriptionPlan
  /** The user's setting, for an input without `holdSeconds`; 0 by default. */
  defaultHoldSeconds?: number | undefined
  input: WholePostInput
  /** `publish` by default. */
  past?: PastTime | undefined
  /** Warnings of whoever read the input. */
  inputWarnings?: Problem[]
  metadata: PostMetadata
  idempotency: Idempotency | null
  /** What the post was planned for earlier. It gets no other accounts, also when a platform has another default account now. */
  planned?: RecordedTargets
}

export type CreatedPost = FirstResponse & { postId: string }

/**
 * Returns the response to the first request with this key; null when the key is new.
 * @throws ServiceError IDEMPOTENCY_MISMATCH when that request had another body
 */
export async function findIdempotentResult(
  { posts }: { posts: PostStore },
  userId: string,
  { key, requestHash }: Idempotency,
): Promise<CreatedPost | null> {
  const post = await posts.findByCorrelationId(userId, key)
  if (!post) return null
  if (post.requestHash !== requestHash) {
    throw new ServiceError('IDEMPOTENCY_MISMATCH', 'Idempotency key was used with a different request')
  }
  return toCreatedPost(post, post.firstResponse!)
}

/**
 * Stores a post, its notification and its use of the allowance together. Its workflow starts soon after. Callers check an idempotency
 * key with `findIdempotentResult` first; a key that is taken meanwhile is answered here.
 * @throws ServiceError VALIDATION_FAILED, POST_LIMIT_REACHED, IDEMPOTENCY_MISMATCH, SERVICE_UNAVAILABLE; nothing is stored then
 */
export async function createPost(
  deps: CommandContext,
  request: CreatePostRequest,
): Promise<{ created: boolean; data: CreatedPost }> {
  const { userId } = request
  // Nothing is fetched for a post that is refused.
  if (hasSources(request.input)) refuseProblems(readWholePost(request.input, toInputContext(deps, userId)).problems)
  const fetched = { ...request, input: await storeSources(deps, userId, request.input) }
  return storeInSlot(userId, fetched.input, () => buildAndStore(deps, fetched))
}

async function buildAndStore(
  deps: CommandContext,
  request: CreatePostRequest,
): Promise<{ created: boolean; data: CreatedPost }> {
  const { post, response } = await buildPost(deps, request)
  try {
    await deps.storePost(post)
  } catch (error) {
    // guard: taken idempotency key
    if (!isDuplicateKey(error) || !request.idempotency) throw error
    const data = await findIdempotentResult(deps, request.userId, request.idempotency)
    if (!data) throw error
    return { created: false, data }
  }
  if (post.status !== 'DRAFT') await deps.startQueue.add(post, request.plan)
  return { created: true, data: toCreatedPost(post, response) }
}

async function buildPost(deps: CommandContext, request: CreatePostRequest) {
  const { userId, defaultHoldSeconds = 0, past = 'publish', inputWarnings = [] } = request
  const { input, metadata, idempotency, planned } = request
  const inputContext = toInputContext(deps, userId)
  const { now } = inputContext
  const { value, problems, warnings } = readWholePost(input, inputContext)
  refuseProblems(problems)
  const draft = input.status === 'DRAFT'
  const slot = await findWantedSlot(deps, userId, input)
  const { scheduledAt = null, holdSeconds = defaultHoldSeconds } = { ...value, ...(slot && { scheduledAt: slot.at }) }
  const [accounts, dueOrder, files, deletedMedia] = await Promise.all([
    loadPostAccounts(deps, userId, { ...value, selectedGroups: input.selectedGroups }, planned),
    scheduledAt && !draft ? findDueOrder(deps, userId, scheduledAt) : undefined,
    // A draft is checked when it is published.
    draft ? NO_FILES : readMediaFiles(deps, userId, value),
    holdMedia(deps, value),
  ])
  const { groups } = accounts
  const targets = accounts.toTargets(accounts.chosen)
  const { remaining, problems: leftOut } = leaveOut(targets, value)
  refuseProblems([...accounts.problems, ...deletedMedia, ...leftOut])
  const checked = preflight(value, targets, files)
  if (!draft) refuseProblems(checked.errors)
  const post = newPost(
    {
      ...correctTypes(value, files),
      chosen: remaining.map(toChosen),
      ...(groups.length > 0 && { groups: [...groups] }),
      _id: newId(),
      userId,
      scheduledAt,
      ...(slot && { slotOf: slot.slotOf }),
      holdSeconds,
      ...(dueOrder && { dueOrder }),
      correlationId: idempotency?.key ?? null,
      requestHash: idempotency?.requestHash ?? null,
      metadata,
      draft,
    },
    now,
  )
  refuseProblem(findSchedulingProblem(input.status, post, warnings, past))
  const delays = post.dueAt ? await findDelayWarnings(deps, { ...post, dueAt: post.dueAt }, remaining) : []
  const response: FirstResponse = {
    status: post.status,
    scheduledAt: post.scheduledAt,
    dueAt: post.dueAt,
    warnings: [...inputWarnings, ...warnings, ...checked.warnings, ...delays],
  }
  return { response, post: idempotency ? { ...post, firstResponse: response } : post }
}

function toCreatedPost(post: Post, { status, scheduledAt, dueAt, warnings }: FirstResponse): CreatedPost {
  return { postId: post._id, status, scheduledAt, dueAt, warnings }
}
