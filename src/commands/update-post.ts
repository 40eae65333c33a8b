import type { Clock } from '../clock.ts'
import { postCreated } from '../domain/notifications.ts'
import { mediaKeys } from '../domain/content.ts'
import { edit, type PostChange } from '../domain/post-moves.ts'
import type { PlatformStatus, Post } from '../domain/post.ts'
import { sizeProblems } from '../domain/post-size.ts'
import { preflight } from '../domain/preflight.ts'
import { ServiceError } from '../domain/service-error.ts'
import type { ObjectStorage } from '../integrations/storage.ts'
import type { NotificationStore } from '../store/notifications.ts'
import type { PostStore } from '../store/posts.ts'
import type { UploadStore } from '../store/uploads.ts'
import { currentRules, type CurrentRulesDeps } from './current-rules.ts'
import type { DiscardPrepared } from './discard-prepared.ts'
import { handOver, type HandOverDeps } from './hand-over.ts'
import {
  readChange,
  readWholePost,
  refuseProblems,
  type InputSurroundings,
  type PostInput,
  type WholePostInput,
} from './post-input.ts'

export interface UpdatePostDeps extends HandOverDeps, CurrentRulesDeps {
  posts: Pick<PostStore, 'findOwned' | 'transition' | 'acknowledgeStart'>
  notifications: Pick<NotificationStore, 'insertOnce'>
  storage: Pick<ObjectStorage, 'publicUrl'>
  clock: Clock
  discardPrepared: DiscardPrepared
  uploads: Pick<UploadStore, 'setNamed'>
}

export interface UpdatePostRequest {
  userId: string
  postId: string
  /** `replace` takes everything but an absent time from the input, `patch` only what is given. */
  update: { kind: 'replace'; input: WholePostInput } | { kind: 'patch'; input: PostInput }
}

/**
 * Changes a draft or a post that delivery has not claimed, and publishes a draft when the input's status says so.
 * @throws ServiceError NOT_FOUND, VALIDATION_FAILED, POST_NOT_EDITABLE
 */
export async function updatePost(deps: UpdatePostDeps, { userId, postId, update }: UpdatePostRequest): Promise<Post> {
  const stored = await deps.posts.findOwned(userId, postId)
  if (!stored) throw new ServiceError('NOT_FOUND', 'Post not found or unauthorized')
  const around = { userId, publicUrl: deps.storage.publicUrl, now: deps.clock.now() }
  const rules = await currentRules(deps, update.input.selectedPlatforms ?? stored.selectedPlatforms)
  const changeOf = read(update, stored.timezone, around)

  let before: PlatformStatus[] = []
  let mediaBefore = new Set<string>()
  const post = await deps.posts.transition(postId, (current, now) => {
    before = current.platformStatuses
    mediaBefore = mediaKeys(current)
    const change = changeOf(current)
    const edited = edit(change)(current, now)
    // A post that older versions stored may be larger, until its texts are changed.
    if (change.content || change.platformSpecificContent) refuseProblems(sizeProblems(edited))
    if (edited.status !== 'DRAFT') refuseProblems(preflight(edited, new Set(), rules).errors)
    return edited
  })
  const mediaNow = mediaKeys(post)
  await deps.uploads.setNamed(
    [...mediaBefore].filter((key) => !mediaNow.has(key)),
    false,
  )
  if (post.status === 'DRAFT') return post
  // What was prepared for a platform that stays is looked at by its delivery.
  void deps.discardPrepared(
    post,
    before.filter(({ platform }) => !post.selectedPlatforms.includes(platform)),
  )
  // Raised on every update, kept once: so that a repeat, or the next one, makes up for a crash in between, as does the sweeper.
  await deps.notifications.insertOnce(postCreated(post))
  await handOver(deps, post, 'changed')
  return post
}

/** Reads the input once; what it means for a post is asked for every stored version that the edit meets. */
function read(
  update: UpdatePostRequest['update'],
  storedTimezone: string,
  around: InputSurroundings,
): (post: Post) => PostChange {
  const { status } = update.input
  const wanted = status === undefined ? {} : { status }
  if (update.kind === 'replace') {
    const { value, problems } = readWholePost(update.input, around)
    refuseProblems(problems)
    return () => ({ ...value, ...wanted })
  }
  const { value, problems } = readChange(update.input, storedTimezone, around)
  refuseProblems(problems)
  const { content, ...rest } = value
  return (post) => ({ ...rest, ...wanted, ...(content ? { content: { ...post.content, ...content } } : {}) })
}
