import { Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { components } from '@postonce/sdk'
import type { ReactNode } from 'react'
import { client, useUser } from '../session/session.ts'
import { askToConfirm } from './ask-to-confirm.ts'
import { showDone, showError } from './errors.ts'
import { showPublishing } from './hold.tsx'
import { PLATFORM_LIMITS } from './platform-limits.ts'
import { AccountName } from './platforms.tsx'
import type { PostStatus } from './statuses.tsx'
import { scheduledFor, type WallTime } from './wall-times.ts'

export type ListedPost = components['schemas']['ListedPost']
export type Delivery = components['schemas']['PlatformStatus']

/** The statuses in which a post offers each action. The service decides; a refusal is shown. */
export const ALLOWED: Record<'edit' | 'publish' | 'cancel' | 'retry', PostStatus[]> = {
  edit: ['DRAFT', 'PENDING', 'SCHEDULED'],
  publish: ['DRAFT', 'SCHEDULED'],
  cancel: ['PENDING', 'SCHEDULED', 'PROCESSING'],
  retry: ['FAILED', 'PARTIAL_SUCCESS'],
}

type Delivered = Pick<ListedPost, 'status' | 'platformStatuses'>

/** Whether a retry would send something: what failed, also the comment of a published post. */
export const canRetry = ({ status, platformStatuses }: Delivered): boolean =>
  ALLOWED.retry.includes(status) ||
  platformStatuses.some((delivery) => delivery.parts?.some((part) => part.status === 'failed'))

/** Whether something of a delivery is on its platform, and a request can remove it: none is pending, and none was refused for every post. */
export const canTakeBack = ({ status, parts = [], platformPostId, removal }: Delivery): boolean =>
  (status === 'completed' || status === 'failed') &&
  (platformPostId !== null || parts.some((part) => part.platformPostId !== null)) &&
  removal?.status !== 'pending' &&
  removal?.errorCode !== 'PLATFORM_NOT_SUPPORTED'

/** The actions on posts, each with its question where it cannot be undone, and its outcome reported. */
export function usePostActions() {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const { holdSeconds } = useUser()
  const acting = useMutation({
    mutationFn: ({ act }: { act: () => Promise<unknown>; done: string | null }) => act(),
    onSuccess: (_, { done }) => done !== null && showDone(done),
    onError: showError,
    onSettled: () =>
      Promise.all(['posts', 'subscription', 'media'].map((key) => queries.invalidateQueries({ queryKey: [key] }))),
  })
  /** @param done what to report; null for an action that reports its outcome itself */
  const run = async (done: string | null, act: () => Promise<unknown>): Promise<void> => {
    await acting.mutateAsync({ act, done }).catch(() => {})
  }

  return {
    isPending: acting.isPending,

    publish: (posts: ListedPost[]) =>
      ask({
        title: posts.length === 1 ? 'Publish now?' : `Publish ${posts.length} posts now?`,
        text:
          holdSeconds === 0
            ? 'This cannot be undone: other people will see it.'
            : `Other people will see it after ${holdSeconds} seconds. Until then you can undo it.`,
        confirm: 'Publish',
        act: () =>
          run(null, async () =>
            showPublishing(await forEach(posts, (post) => edit(post, { status: 'PENDING', scheduledAt: null }))),
          ),
      }),

    /** Moves posts to a time; drafts become scheduled. */
    schedule: (posts: (EditedPost & Pick<ListedPost, 'status'>)[], at: WallTime) =>
      run(posts.length === 1 ? 'The post is scheduled.' : 'The posts are scheduled.', () =>
        forEach(posts, (post) =>
          edit(post, { ...scheduledFor(at), ...(post.status === 'DRAFT' && { status: 'SCHEDULED' }) }),
        ),
      ),

    /** Moves each post to a time of its own; drafts stay drafts. */
    move: (moved: { post: EditedPost; at: WallTime }[]) =>
      run(moved.length === 1 ? 'The post is moved.' : 'The posts are moved.', () =>
        forEach(moved, ({ post, at }) => edit(post, scheduledFor(at))),
      ),

    cancel: (posts: Pick<ListedPost, '_id'>[], accounts?: string[]) =>
      ask({
        title: accounts ? 'Stop waiting?' : posts.length === 1 ? 'Cancel this post?' : `Cancel ${posts.length} posts?`,
        text: accounts
          ? 'The post will not be sent to this account. What is published elsewhere stays.'
          : 'What has not been sent yet will not be sent. You can duplicate a cancelled post.',
        confirm: accounts ? 'Stop waiting' : 'Cancel the post',
        act: () =>
          run('Cancelled.', () => forEach(posts, ({ _id }) => client.posts.cancel(_id, accounts ? { accounts } : {}))),
      }),

    retry: (posts: Pick<ListedPost, '_id'>[], accounts?: string[]) =>
      run('It is being sent again.', () =>
        forEach(posts, ({ _id }) => client.posts.retry(_id, accounts ? { accounts } : {})),
      ),

    /** Removes what is published from its platforms, for these deliveries of the post. */
    takeBack: async ({ _id }: Pick<ListedPost, '_id'>, deliveries: Delivery[]) => {
      const limits = await queries.ensureQueryData(PLATFORM_LIMITS).catch(showError)
      if (!limits) return
      const byHand = deliveries.filter(({ platform }) => !limits[platform].removable)
      const accounts = deliveries.flatMap(({ accountId }) => accountId ?? [])
      ask({
        title: 'Take the post back?',
        text: <TakeBackQuestion removed={deliveries.filter((one) => !byHand.includes(one))} byHand={byHand} />,
        confirm: 'Take it back',
        act: () =>
          run('The post is being taken back.', () =>
            client.request('DELETE', '/api/posts/{postId}/published', { path: { postId: _id }, query: { accounts } }),
          ),
      })
    },

    remove: (posts: Pick<ListedPost, '_id'>[], then?: () => void) =>
      ask({
        title: posts.length === 1 ? 'Delete this post?' : `Delete ${posts.length} posts?`,
        text: 'Waiting deliveries stop. Posts that are already published stay on their platforms.',
        confirm: 'Delete',
        act: async () => {
          await run('Deleted.', () => forEach(posts, ({ _id }) => client.posts.delete(_id)))
          then?.()
        },
      }),

    /** Opens a copy as a draft: for all accounts of the post, or for these alone, where the others have the post already. */
    duplicate: async ({ _id }: Pick<ListedPost, '_id'>, accounts?: string[]) => {
      const copy = await copyFor(_id, accounts).catch(showError)
      if (!copy) return
      await queries.invalidateQueries({ queryKey: ['posts'] })
      await navigate({ to: '/compose', search: { id: copy.postId } })
    },
  }
}

async function copyFor(postId: string, accounts?: string[]) {
  const copy = await client.posts.duplicate(postId)
  if (accounts) await client.posts.update(copy.postId, { selectedPlatforms: [], selectedAccounts: accounts })
  return copy
}

type EditedPost = Pick<ListedPost, '_id' | 'etag'>

/** Changes a post as it was listed; the service refuses it when the post was changed meanwhile. */
const edit = ({ _id, etag }: EditedPost, body: components['schemas']['UpdatePost']) =>
  client.request('PATCH', '/api/posts/{postId}', { path: { postId: _id }, body, ifMatch: etag })

interface Question {
  title: string
  text: ReactNode
  confirm: string
  act: () => Promise<unknown>
}

function ask({ title, text, confirm, act }: Question): void {
  askToConfirm({
    title,
    children: typeof text === 'string' ? <Text size="sm">{text}</Text> : text,
    labels: { confirm, cancel: 'Back' },
    confirmProps: { color: confirm === 'Publish' ? 'ink' : 'red' },
    onConfirm: () => void act(),
  })
}

/** Names the accounts, and what stays wherever it was published. */
function TakeBackQuestion({ removed, byHand }: { removed: Delivery[]; byHand: Delivery[] }) {
  return (
    <Stack gap="sm">
      {removed.length > 0 && (
        <>
          <Text size="sm">The post, its whole thread and your comment are deleted on:</Text>
          <DeliveryNames deliveries={removed} />
        </>
      )}
      {byHand.length > 0 && (
        <>
          <Text size="sm">These platforms let no program delete posts. Delete it in their apps yourself:</Text>
          <DeliveryNames deliveries={byHand} />
        </>
      )}
      <Text size="sm">Reposts, quotes and copies by others stay. This cannot be undone.</Text>
    </Stack>
  )
}

export function DeliveryNames({ deliveries }: { deliveries: Delivery[] }) {
  return (
    <Stack component="ul" gap={6} m={0} p={0} style={{ listStyle: 'none' }}>
      {deliveries.map(({ platform, accountId, accountName }) => (
        <li key={accountId ?? platform}>
          <AccountName platform={platform} name={accountName} />
        </li>
      ))}
    </Stack>
  )
}

/** In sequence, so that a limit or a refusal stops the rest. */
async function forEach<T, R>(items: T[], act: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  for (const item of items) results.push(await act(item))
  return results
}
