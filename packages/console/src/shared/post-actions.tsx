import { Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { components } from '@postonce/sdk'
import { client } from '../session/session.ts'
import { askToConfirm } from './ask-to-confirm.ts'
import { showDone, showError } from './errors.ts'
import type { PostStatus } from './statuses.tsx'
import { scheduledFor, type WallTime } from './wall-times.ts'

export type ListedPost = components['schemas']['ListedPost']

/** The statuses in which a post offers each action. The service decides; a refusal is shown. */
export const ALLOWED: Record<'edit' | 'publish' | 'cancel' | 'retry', PostStatus[]> = {
  edit: ['DRAFT', 'PENDING', 'SCHEDULED'],
  publish: ['DRAFT', 'SCHEDULED'],
  cancel: ['PENDING', 'SCHEDULED', 'PROCESSING'],
  retry: ['FAILED', 'PARTIAL_SUCCESS'],
}

/** The actions on posts, each with its question where it cannot be undone, and its outcome reported. */
export function usePostActions() {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const acting = useMutation({
    mutationFn: ({ act }: { act: () => Promise<unknown>; done: string }) => act(),
    onSuccess: (_, { done }) => showDone(done),
    onError: showError,
    onSettled: () =>
      Promise.all(['posts', 'subscription', 'media'].map((key) => queries.invalidateQueries({ queryKey: [key] }))),
  })
  const run = async (done: string, act: () => Promise<unknown>): Promise<void> => {
    await acting.mutateAsync({ act, done }).catch(() => {})
  }

  return {
    isPending: acting.isPending,

    publish: (posts: ListedPost[]) =>
      ask({
        title: posts.length === 1 ? 'Publish now?' : `Publish ${posts.length} posts now?`,
        text: 'This cannot be undone: other people will see it.',
        confirm: 'Publish',
        act: () =>
          run(posts.length === 1 ? 'The post is being published.' : 'The posts are being published.', () =>
            forEach(posts, (post) => edit(post, { status: 'PENDING', scheduledAt: null })),
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
  text: string
  confirm: string
  act: () => Promise<unknown>
}

function ask({ title, text, confirm, act }: Question): void {
  askToConfirm({
    title,
    children: <Text size="sm">{text}</Text>,
    labels: { confirm, cancel: 'Back' },
    confirmProps: { color: confirm === 'Publish' ? 'ink' : 'red' },
    onConfirm: () => void act(),
  })
}

/** In sequence, so that a limit or a refusal stops the rest. */
async function forEach<T>(items: T[], act: (item: T) => Promise<unknown>): Promise<void> {
  for (const item of items) await act(item)
}
