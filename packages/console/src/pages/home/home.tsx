import { Anchor, Badge, Button, Group, SimpleGrid, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useAccountFilter, useBrand } from '../../session/brand.ts'
import { client, useUser } from '../../session/session.ts'
import { countOf } from '../../shared/counts.ts'
import { Page } from '../../shared/page.tsx'
import { AccountName, type Account } from '../../shared/platforms.tsx'
import type { ListedPost } from '../../shared/post-actions.tsx'
import { PostTime } from '../../shared/post-time.tsx'
import { Section } from '../../shared/section.tsx'
import { useAccounts } from '../../shared/accounts.ts'
import { QueryView } from '../../shared/states.tsx'
import { PostStatusBadge, type PostStatus } from '../../shared/statuses.tsx'
import { FirstSteps } from './first-steps.tsx'

const SHOWN = 5

export function HomePage() {
  const { name } = useUser()
  const accounts = useAccounts()
  const any = useQuery({ queryKey: ['posts', 'any'], queryFn: () => client.posts.list({ limit: 1 }) })
  return (
    <Page title={`Hello, ${name.split(' ')[0]}`}>
      <QueryView query={accounts}>
        {(list) => (
          <QueryView query={any}>
            {({ total }) =>
              total === 0 || list.length === 0 ? (
                <FirstSteps hasAccount={list.length > 0} hasPost={total > 0} />
              ) : (
                <Today accounts={list} />
              )
            }
          </QueryView>
        )}
      </QueryView>
    </Page>
  )
}

function Today({ accounts }: { accounts: Account[] }) {
  const { brand } = useBrand()
  const broken = accounts.filter(
    ({ _id, health }) =>
      (health.needsReconnection || health.status !== 'active') && (brand === null || brand.accountIds.includes(_id)),
  )
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
      <Stack gap="lg">
        <Section title="Needs you">
          <Stack gap="sm">
            {broken.map(({ _id, platform, profile, health }) => (
              <Group key={_id} justify="space-between" wrap="nowrap">
                <AccountName platform={platform} name={profile.handle} />
                <Button component={Link} to="/accounts" size="compact-xs" variant="light" color="red">
                  {health.status === 'expiring' ? 'Login ends soon' : 'Connect again'}
                </Button>
              </Group>
            ))}
            <Posts
              status={['FAILED', 'PARTIAL_SUCCESS']}
              unresolved
              nothing={broken.length === 0 ? 'All is well.' : null}
            />
          </Stack>
        </Section>
        <Section title="To review" actions={<More to="/review">All drafts</More>}>
          <Posts status={['DRAFT']} nothing="No drafts." />
        </Section>
      </Stack>
      <Stack gap="lg">
        <Section title="Next" actions={<More to="/calendar">Calendar</More>}>
          <Posts
            status={['SCHEDULED', 'PENDING', 'PROCESSING']}
            order="asc"
            nothing={
              <>
                Nothing is planned.{' '}
                <Anchor component={Link} to="/compose" underline="always">
                  Write a post
                </Anchor>
              </>
            }
          />
        </Section>
        <Section title="Published" actions={<More to="/posts">All posts</More>}>
          <Posts status={['COMPLETED', 'PARTIAL_SUCCESS']} nothing="Nothing is published yet." />
        </Section>
      </Stack>
    </SimpleGrid>
  )
}

function More({ to, children }: { to: string; children: string }) {
  return (
    <Anchor component={Link} to={to} size="sm">
      {children}
    </Anchor>
  )
}

interface PostsProps {
  status: PostStatus[]
  order?: 'asc' | 'desc'
  /** Shown when there is none. */
  nothing: ReactNode
  /** Only posts with a failed delivery that the user has to attend to. */
  unresolved?: boolean
}

function Posts({ status, order = 'desc', nothing, unresolved = false }: PostsProps) {
  const query = {
    ...{ status, limit: SHOWN, sortBy: 'date' as const, sortOrder: order, ...useAccountFilter() },
    ...(unresolved && { unresolved: 'true' as const }),
  }
  const posts = useQuery({ queryKey: ['posts', 'list', query], queryFn: () => client.posts.list(query) })
  return (
    <QueryView query={posts}>
      {({ posts: items, total }) =>
        items.length === 0 ? (
          <Text c="dimmed" size="sm">
            {nothing}
          </Text>
        ) : (
          <Stack gap="sm" component="ul" m={0} p={0}>
            {items.map((post) => (
              <PostLine key={post._id} post={post} />
            ))}
            {total > SHOWN && (
              <Text size="sm" c="dimmed" component="li" display="block">
                and {total - SHOWN} more
              </Text>
            )}
          </Stack>
        )
      }
    </QueryView>
  )
}

function PostLine({ post }: { post: ListedPost }) {
  return (
    <Group component="li" justify="space-between" wrap="nowrap" gap="sm">
      <Stack gap={0} miw={0}>
        <Anchor component={Link} to={`/posts/${post._id}`} c="inherit" truncate>
          {post.content.text || 'Without text'}
        </Anchor>
        <PostTime post={post} />
      </Stack>
      {post.status === 'SCHEDULED' ? (
        <Badge variant="light" style={{ flex: 'none' }}>
          {countOf(post.platformStatuses.length, 'account')}
        </Badge>
      ) : (
        <PostStatusBadge status={post.status} />
      )}
    </Group>
  )
}
