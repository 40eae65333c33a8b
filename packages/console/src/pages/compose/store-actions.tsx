import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import { useIsMutating, useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { ApiError, type components } from '@postonce/sdk'
import { useBrand } from '../../session/brand.ts'
import { client } from '../../session/session.ts'
import { askToConfirm } from '../../shared/ask-to-confirm.ts'
import { describeError, showDone } from '../../shared/errors.ts'
import { showPublishing } from '../../shared/hold.tsx'
import type { Account } from '../../shared/platforms.tsx'
import { ALLOWED } from '../../shared/post-actions.tsx'
import { POST_STATUSES } from '../../shared/statuses.tsx'
import { useTimes } from '../../shared/times.ts'
import { isPast, NEXT_SLOT } from '../../shared/wall-times.ts'
import { isEmpty, mixesBrands } from './draft.ts'
import { ProblemList } from './problems.tsx'
import { UPLOADS } from './upload.ts'
import type { DraftState } from './use-draft.ts'

type Post = components['schemas']['Post']

interface StoreActionsProps {
  state: DraftState
  body: components['schemas']['CreatePost']
  accounts: Account[]
  post: Post | undefined
  isGone: boolean
  refresh: () => void
}

/** Stores the draft, and says what keeps it from being stored. */
export function StoreActions({ state, body, accounts, post, isGone, refresh }: StoreActionsProps) {
  const { draft } = state
  const isEditable = !isGone && (post === undefined || ALLOWED.edit.includes(post.status))
  const isWaiting = isEditable && post !== undefined && post.status !== 'DRAFT'
  const storing = useStoring({ state, body, post, isEditable, refresh })
  const uploads = useIsMutating({ mutationKey: UPLOADS })
  const { brands } = useBrand()
  const isMixed = mixesBrands(draft.accounts, brands)
  const isOver = typeof draft.at === 'object' && draft.at !== null && isPast(draft.at)
  const isBlocked = isEmpty(draft) || uploads > 0 || storing.isPending
  const isConflict = isEditable && state.isConflict && !storing.isSuccess
  const isOutdated = storing.error instanceof ApiError && storing.error.status === 412
  const button = (kind: Kind) => ({
    loading: storing.isPending && storing.variables === kind,
    onClick: () => (kind === 'publish' && isMixed ? askForBrands(() => storing.mutate(kind)) : storing.mutate(kind)),
  })
  return (
    <Stack>
      {storing.isError && !isConflict && (
        <Alert color="red" title="The post was not stored">
          {describeError(storing.error)}
          {storing.error instanceof ApiError && <ProblemList problems={storing.error.problems} accounts={accounts} />}
        </Alert>
      )}
      {isConflict && (
        <Alert color="yellow" role="alert" title="The post was changed elsewhere meanwhile">
          <Text size="sm" mb="xs">
            Save yours over the newer version, or load it. You can bring back what you typed.
          </Text>
          <Group gap="xs">
            <Button
              size="xs"
              onClick={() => {
                state.keepMine()
                if (isOutdated) storing.mutate(storing.variables!)
              }}
            >
              Keep mine
            </Button>
            <Button
              size="xs"
              variant="default"
              onClick={() => {
                state.loadTheirs()
                storing.reset()
              }}
            >
              Load theirs
            </Button>
          </Group>
        </Alert>
      )}
      {!isEditable && !storing.isSuccess && (
        <Alert color="yellow" role="alert" title="This post can no longer be edited">
          {isGone ? 'It was deleted.' : `Its status is “${POST_STATUSES[post!.status].label}”.`} Save what you typed as
          a new draft.
        </Alert>
      )}
      {uploads > 0 && (
        <Text size="sm" c="dimmed" role="status" ta="right">
          Files are still being uploaded.
        </Text>
      )}
      <Group justify="flex-end">
        {post && (
          <Button variant={isEditable ? 'subtle' : 'filled'} disabled={isBlocked} {...button('copy')}>
            {isEditable ? 'Duplicate' : 'Save as a new draft'}
          </Button>
        )}
        {isEditable && !isWaiting && (
          <Button variant="default" disabled={isBlocked || isConflict} {...button('draft')}>
            Save as draft
          </Button>
        )}
        {isEditable && (
          <Button
            disabled={isBlocked || isConflict || isOver || body.selectedAccounts?.length === 0}
            {...button('publish')}
          >
            {toLabel(draft, post)}
          </Button>
        )}
      </Group>
    </Stack>
  )
}

/** Names what storing the post does. One that is sent soon anyway is only saved. */
function toLabel({ at }: DraftState['draft'], post: Post | undefined): string {
  if (at === null) return post?.status === 'PENDING' ? 'Save' : 'Publish now'
  return post === undefined || post.status === 'DRAFT' ? 'Schedule' : 'Save'
}

/** A post for two brands is often a mistake. */
function askForBrands(publish: () => void): void {
  askToConfirm({
    title: 'Publish for several brands?',
    children: <Text size="sm">The chosen accounts belong to different brands.</Text>,
    labels: { confirm: 'Publish for all', cancel: 'Back' },
    onConfirm: publish,
  })
}

/** A draft takes no slot. */
const withoutSlot = ({ scheduledAt, ...body }: StoreActionsProps['body']) =>
  scheduledAt === NEXT_SLOT ? body : { ...body, scheduledAt: scheduledAt ?? null }

const toDraft = (body: StoreActionsProps['body']) => ({ ...withoutSlot(body), status: 'DRAFT' as const })

/** The key of the mutation that stores a post. */
export const STORING = ['store-post']

/** `copy` saves what was typed as a new draft. */
type Kind = 'draft' | 'publish' | 'copy'

/** The same content has the same idempotency key, so that a repeated click or a lost response makes one post. */
function useStoring({
  state,
  body,
  post,
  isEditable,
  refresh,
}: Omit<StoreActionsProps, 'accounts' | 'isGone'> & { isEditable: boolean }) {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const { view } = useSearch({ from: '/signed-in/compose' })
  const { dateOf } = useTimes()
  const { at } = state.draft
  const toDate = (instant: string) => dateOf(Date.parse(instant))
  const create = (kind: Kind) => {
    const content = kind === 'publish' ? body : toDraft(body)
    return client.posts.create(content, { idempotencyKey: state.keyFor(JSON.stringify(content)) })
  }
  const update = ({ _id, etag }: Post, kind: Kind) =>
    client.request('PATCH', '/api/posts/{postId}', {
      path: { postId: _id },
      body: kind === 'publish' ? { ...body, status: at === null ? 'PENDING' : 'SCHEDULED' } : withoutSlot(body),
      // The newest that was read: until the user has decided about another content, nothing is stored.
      ifMatch: etag,
    })
  return useMutation({
    mutationKey: STORING,
    mutationFn: (kind: Kind) => (post && kind !== 'copy' ? update(post, kind) : create(kind)),
    onSuccess: (stored, kind) => {
      const { postId } = stored
      if (kind === 'copy' && isEditable) state.finishCopy()
      else state.finish()
      for (const key of ['posts', 'subscription', 'media']) void queries.invalidateQueries({ queryKey: [key] })
      if (kind === 'publish' && at === null) showPublishing([stored])
      else showDone(kind === 'publish' ? 'The post is scheduled.' : 'The draft is saved.')
      // Whoever plans in the calendar sees the post in its place, and the next free time.
      if (kind === 'publish' && stored.scheduledAt !== null && view !== undefined)
        return navigate({ to: '/calendar', search: { view, date: toDate(stored.scheduledAt) } })
      return navigate(
        kind === 'copy' ? { to: '/compose', search: { id: postId } } : { to: '/posts/$postId', params: { postId } },
      )
    },
    onError: (error) => {
      if (error instanceof ApiError && [404, 409, 412].includes(error.status)) refresh()
    },
  })
}
