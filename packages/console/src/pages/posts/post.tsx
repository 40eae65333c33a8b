import { Button, Group, Menu, Paper, SimpleGrid, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { ChevronDown, CopyPlus, Pencil, Trash, Undo2 } from 'lucide-react'
import type { components } from '@postonce/sdk'
import { client } from '../../session/session.ts'
import { isNotFound } from '../../shared/errors.ts'
import { HoldNotice } from '../../shared/hold.tsx'
import { Page } from '../../shared/page.tsx'
import { PLATFORMS, type Platform } from '../../shared/platforms.tsx'
import { ALLOWED, canRetry, canTakeBack, usePostActions } from '../../shared/post-actions.tsx'
import { ScheduleButton } from '../../shared/schedule-button.tsx'
import { DeliveryStatusBadge, PostStatusBadge } from '../../shared/statuses.tsx'
import { Section } from '../../shared/section.tsx'
import { QueryView } from '../../shared/states.tsx'
import { fromNow, useTimes } from '../../shared/times.ts'
import { NotFoundPage } from '../../shell/not-found.tsx'
import { Deliveries, isCorrectable } from './deliveries.tsx'
import { askForEdit, isPublished } from './edit-published.tsx'
import { Figures } from './figures.tsx'
import { PostContent } from './post-content.tsx'
import { PostEvents } from './post-events.tsx'
import { CLIENTS } from './post-row.tsx'

type Detail = components['schemas']['PostDetail']
type Post = components['schemas']['Post']

/** How often a post is read again while something is about to happen to it. */
const ACTIVE_MS = 3_000
const isActive = (post?: Post) =>
  post?.status === 'PENDING' ||
  post?.status === 'PROCESSING' ||
  post?.platformStatuses.some(({ removal, revisions }) =>
    [removal, revisions?.at(-1)].some((change) => change?.status === 'pending'),
  )

export function PostPage() {
  const { postId } = useParams({ from: '/signed-in/posts/$postId' })
  const detail = useQuery({
    queryKey: ['posts', postId],
    queryFn: () => client.request('GET', '/api/posts/{postId}', { path: { postId } }),
    refetchInterval: ({ state }) => (isActive(state.data?.post) ? ACTIVE_MS : false),
  })
  if (isNotFound(detail.error)) return <NotFoundPage />
  return <QueryView query={detail}>{(data) => <PostView {...data} />}</QueryView>
}

function PostView({ post, analytics, accountAnalytics = {} }: Detail) {
  const { content } = post
  return (
    <Page title="Post" lead={<When post={post} />} actions={<Actions post={post} />}>
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
        <Stack gap="lg">
          <Paper withBorder p="md" className="surface">
            <PostContent content={content} />
          </Paper>
          <Variants post={post} />
          <Figures post={post} analytics={analytics} accountAnalytics={accountAnalytics} />
        </Stack>
        <Stack gap="lg">
          {post.status === 'PENDING' && <HoldNotice held={[{ ...post, postId: post._id }]} />}
          <Deliveries post={post} />
          <PostEvents post={post} />
        </Stack>
      </SimpleGrid>
    </Page>
  )
}

function When({ post: { status, dueAt, updatedAt, metadata, platformStatuses } }: { post: Post }) {
  const { dateTime, timezone } = useTimes()
  const isDeleted = platformStatuses.length > 0 && platformStatuses.every((one) => one.status === 'deleted')
  return (
    <Group gap="xs" component="span">
      {isDeleted ? <DeliveryStatusBadge status="deleted" /> : <PostStatusBadge status={status} />}
      <span>
        {dueAt === null ? `changed ${fromNow(updatedAt)}` : `${dateTime(dueAt)} (${timezone}), ${fromNow(dueAt)}`}
        {metadata.client !== 'console' && `, ${CLIENTS[metadata.client]}`}
      </span>
    </Group>
  )
}

function Actions({ post }: { post: Post }) {
  const actions = usePostActions()
  const navigate = useNavigate()
  const may = (action: keyof typeof ALLOWED) => ALLOWED[action].includes(post.status)
  const id = post._id
  const failed = post.platformStatuses.filter(({ status }) => status === 'failed')
  const published = post.platformStatuses.filter(canTakeBack)
  const edited = post.platformStatuses.filter(isPublished)
  const isRefused = failed.length > 0 && failed.every(({ errorCode }) => isCorrectable(errorCode))
  return (
    <>
      {canRetry(post) && (
        <Button
          size="xs"
          variant={isRefused ? 'default' : 'filled'}
          loading={actions.isPending}
          onClick={() => void actions.retry([post])}
        >
          Send again
        </Button>
      )}
      {may('edit') && (
        <Button
          size="xs"
          variant="default"
          leftSection={<Pencil size={14} aria-hidden />}
          renderRoot={(props) => <Link to="/compose" search={{ id }} {...props} />}
        >
          Edit
        </Button>
      )}
      {may('edit') && (
        <ScheduleButton
          label={post.status === 'DRAFT' ? 'Schedule' : 'Move'}
          onChoose={(at) => actions.schedule([post], at)}
        />
      )}
      {may('publish') && (
        <Button size="xs" variant="default" loading={actions.isPending} onClick={() => actions.publish([post])}>
          Publish now
        </Button>
      )}
      {may('cancel') && (
        <Button size="xs" variant="default" loading={actions.isPending} onClick={() => actions.cancel([post])}>
          Cancel
        </Button>
      )}
      <Menu position="bottom-end">
        <Menu.Target>
          <Button size="xs" variant="default" rightSection={<ChevronDown size={14} aria-hidden />}>
            More
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<CopyPlus size={15} aria-hidden />} onClick={() => void actions.duplicate(post)}>
            Duplicate
          </Menu.Item>
          {edited.length > 0 && (
            <Menu.Item leftSection={<Pencil size={15} aria-hidden />} onClick={() => askForEdit(post, edited)}>
              Edit published
            </Menu.Item>
          )}
          {published.length > 0 && (
            <Menu.Item
              leftSection={<Undo2 size={15} aria-hidden />}
              onClick={() => void actions.takeBack(post, published)}
            >
              {published.length > 1 ? 'Take back everywhere' : 'Take back'}
            </Menu.Item>
          )}
          <Menu.Item
            color="red"
            leftSection={<Trash size={15} aria-hidden />}
            onClick={() => actions.remove([post], () => void navigate({ to: '/posts' }))}
          >
            Delete
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </>
  )
}

/** The texts and files that differ for a platform or an account. */
function Variants({ post }: { post: Post }) {
  const names = new Map(post.platformStatuses.map(({ accountId, accountName }) => [accountId, accountName]))
  const variants = [
    ...Object.entries(post.platformSpecificContent).map(([platform, variant]) => ({
      name: PLATFORMS[platform as Platform].name,
      variant,
    })),
    ...Object.entries(post.accountSpecificContent ?? {}).map(([id, variant]) => ({
      name: names.get(id) ?? 'An account that is no longer connected',
      variant,
    })),
  ]
  if (variants.length === 0) return null
  return (
    <Section title="Variants">
      <Stack>
        {variants.map(({ name, variant }) => (
          <div key={name}>
            <Text fw={600} size="sm">
              {name}
            </Text>
            <PostContent content={variant ?? {}} />
          </div>
        ))}
      </Stack>
    </Section>
  )
}
