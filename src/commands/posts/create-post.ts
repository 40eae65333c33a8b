import { newPost } from '../../domain/posts/post-moves.ts'
import type { FirstAnswer, Post } from '../../domain/posts/post.ts'
import { preflight, findSchedulingProblem } from '../../domain/posts/preflight.ts'
import { ServiceError } from '../../domain/shared/service-error.ts'
import { isDuplicateKey } from '../../store/shared/database.ts'
import type { PlatformAccountStore } from '../../store/accounts/platform-accounts.ts'
import type { PostStore } from '../../store/posts/posts.ts'
import { newId } from '../../store/shared/schema.ts'
import type { ObjectStorage } from '../../integrations/storage/storage.ts'
import type { Clock } from '../../clock.ts'
import { currentRules, type CurrentRulesDeps } from './current-rules.ts'
import { handOver, type HandOverDeps } from '../shared/notify-workflow.ts'
import type { StorePost } from './store-post.ts'
import { readWholePost, refuseProblem, refuseProblems, type WholePostInput } from './post-input.ts'

export interface CreatePostDeps extends HandOverDeps, CurrentRulesDeps {
  posts: PostStore
  storePost: StorePost
  accounts: Pick<PlatformAccountStore, 'connectedPlatforms'>
  storage: Pick<ObjectStorage, 'publicUrl'>
  clock: Clock
}

/** The client's key for a create that may be repeated, with the hash of the body it came with. */
export interface Idempotency {
  key: string
  requestHash: string
}

export interface CreatePostRequest {
  userId: string
  input: WholePostInput
  source: 'web' | 'api'
  idempotency: Idempotency | null
}

export type CreatedPost = FirstAnswer & { postId: string }

/**
 * The answer to the first request with this key, for a repeat of it; null when the key is new.
 * @throws ServiceError IDEMPOTENCY_MISMATCH when that request was another one
 */
export async function findFirstAnswer(
  { posts }: { posts: Pick<PostStore, 'findByCorrelationId'> },
  userId: string,
  { key, requestHash }: Idempotency,
): Promise<CreatedPost | null> {
  const post = await posts.findByCorrelationId(userId, key)
  if (!post) return null
  if (post.requestHash !== requestHash) {
    throw new ServiceError('IDEMPOTENCY_MISMATCH', 'Idempotency key was used with a different request')
  }
  return answer(post, post.firstAnswer!)
}

/**
 * Stores a post, its notification and its share of the allowance together, then hands it to Temporal (design section 4).
 * Callers look an idempotency key up with `findFirstAnswer` before; one that is taken meanwhile is answered here.
 * @throws ServiceError VALIDATION_FAILED, POST_LIMIT_REACHED, IDEMPOTENCY_MISMATCH, SERVICE_UNAVAILABLE; nothing is stored then
 */
export async function createPost(
  deps: CreatePostDeps,
  request: CreatePostRequest,
): Promise<{ created: boolean; data: CreatedPost }> {
  const { post, answered } = await makePost(deps, request)
  try {
    await deps.storePost(post)
  } catch (error) {
    // guard: taken idempotency key
    if (!isDuplicateKey(error) || !request.idempotency) throw error
    const data = await findFirstAnswer(deps, request.userId, request.idempotency)
    if (!data) throw error
    return { created: false, data }
  }
  if (post.status !== 'DRAFT') await handOver(deps, post, 'start')
  return { created: true, data: answer(post, answered) }
}

async function makePost(deps: CreatePostDeps, { userId, input, source, idempotency }: CreatePostRequest) {
  const now = deps.clock.now()
  const { value, problems, warnings } = readWholePost(input, { userId, publicUrl: deps.storage.publicUrl, now })
  refuseProblems(problems)
  const draft = input.status === 'DRAFT'
  const [connected, rules] = await Promise.all([
    deps.accounts.connectedPlatforms(userId),
    currentRules(deps, value.selectedPlatforms),
  ])
  const checked = preflight(value, connected, rules)
  if (!draft) refuseProblems(checked.errors)
  const post = newPost(
    {
      ...value,
      _id: newId(),
      userId,
      scheduledAt: value.scheduledAt ?? null,
      correlationId: idempotency?.key ?? null,
      requestHash: idempotency?.requestHash ?? null,
      metadata: { source },
      draft,
    },
    now,
  )
  refuseProblem(findSchedulingProblem(input.status, post, warnings))
  const answered: FirstAnswer = {
    status: post.status,
    scheduledAt: post.scheduledAt,
    warnings: [...warnings, ...checked.warnings],
  }
  return { answered, post: idempotency ? { ...post, firstAnswer: answered } : post }
}

function answer(post: Post, { status, scheduledAt, warnings }: FirstAnswer): CreatedPost {
  return { postId: post._id, status, scheduledAt, warnings }
}
