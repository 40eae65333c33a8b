import { Alert, Anchor, Badge, Button, Group, NumberInput, SimpleGrid, Stack, Switch, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import type { components } from '@postonce/sdk'
import { client } from '../../session/session.ts'
import { askToConfirm } from '../../shared/ask-to-confirm.ts'
import { problemsByField, showDone, showError } from '../../shared/errors.ts'
import { FieldForm } from '../../shared/field-form.tsx'
import { Section } from '../../shared/section.tsx'
import { QueryView } from '../../shared/states.tsx'
import { PostStatusBadge } from '../../shared/statuses.tsx'
import { useTimes } from '../../shared/times.ts'

type UserRecord = components['schemas']['UserRecord']

const POSTS = 20

/** One user, with plan, limits and posts. Every change and each read of posts is in the audit log. */
export function UserPanel() {
  const { id } = useParams({ from: '/signed-in/admin/users/$id' })
  const user = useQuery({
    queryKey: ['admin', 'users', id],
    queryFn: () => client.request('GET', '/api/admin/users/{id}', { path: { id } }),
  })
  return (
    <Stack>
      <Anchor component={Link} to="/admin/users" size="sm">
        All users
      </Anchor>
      <QueryView query={user}>
        {(record) => (
          <>
            <SimpleGrid cols={{ base: 1, md: 2 }}>
              <Access user={record} />
              <Limits key={JSON.stringify(record.limits)} user={record} />
            </SimpleGrid>
            <Posts id={id} />
          </>
        )}
      </QueryView>
    </Stack>
  )
}

function useChange() {
  const queries = useQueryClient()
  return () => queries.invalidateQueries({ queryKey: ['admin'] })
}

function Access({ user }: { user: UserRecord }) {
  const { _id: id, name, email, subscription, isDisabled, role } = user
  const { dateTime } = useTimes()
  const settled = useChange()
  const acting = useMutation({
    mutationFn: (act: () => Promise<unknown>) => act(),
    onError: showError,
    onSuccess: () => showDone('Changed.'),
    onSettled: settled,
  })
  const other = subscription.plan === 'pro' ? 'free' : 'pro'
  const ask = (title: string, text: string, act: () => Promise<unknown>) =>
    askToConfirm({
      title,
      children: <Text size="sm">{text}</Text>,
      labels: { confirm: 'Change', cancel: 'Back' },
      onConfirm: () => acting.mutate(act),
    })
  return (
    <Section title={name} lead={email}>
      <Stack align="flex-start">
        <Group gap="xs">
          <Badge variant="light">{subscription.plan}</Badge>
          {role === 'admin' && <Badge variant="light">Admin</Badge>}
          <Text size="sm" c="dimmed">
            since {dateTime(user.createdAt)}
          </Text>
        </Group>
        <Button
          size="xs"
          variant="default"
          loading={acting.isPending}
          onClick={() =>
            ask(`Change the plan to ${other}?`, 'The limits of that plan apply.', () =>
              client.request('PATCH', '/api/admin/update-user-plan/{id}', { path: { id }, query: { plan: other } }),
            )
          }
        >
          Change the plan to {other}
        </Button>
        <Switch
          label="May log in and publish"
          checked={!isDisabled}
          disabled={acting.isPending}
          onChange={() =>
            ask(
              isDisabled ? `Enable ${name}?` : `Disable ${name}?`,
              isDisabled ? 'Waiting posts continue.' : 'Sessions end, and waiting posts are not sent.',
              () =>
                client.request('PATCH', '/api/admin/update-user-activity/{id}', {
                  path: { id },
                  body: { activity: isDisabled },
                }),
            )
          }
        />
      </Stack>
    </Section>
  )
}

function Limits({ user: { _id: id, limits, usage } }: { user: UserRecord }) {
  const settled = useChange()
  const form = useForm({ mode: 'uncontrolled', initialValues: limits })
  const saving = useMutation({
    mutationFn: (body: typeof limits) =>
      client.request('PATCH', '/api/admin/users/{id}/limits', { path: { id }, body }),
    onError: (error) => form.setErrors(problemsByField(error)),
    onSuccess: () => showDone('Saved.'),
    onSettled: settled,
  })
  return (
    <Section title="Limits" lead="Until the plan changes.">
      <FieldForm sending={saving} onSubmit={form.onSubmit((values) => saving.mutate(values))} submit="Save">
        <NumberInput
          label={`Posts (${usage.postsCreated} used)`}
          min={0}
          required
          key={form.key('maxPosts')}
          {...form.getInputProps('maxPosts')}
        />
        <NumberInput
          label={`Captions (${usage.captionGenerations} used)`}
          min={0}
          required
          key={form.key('maxCaptionGenerations')}
          {...form.getInputProps('maxCaptionGenerations')}
        />
      </FieldForm>
    </Section>
  )
}

/** Read only when asked for: the audit log has each reading. */
function Posts({ id }: { id: string }) {
  const { dateTime } = useTimes()
  const posts = useQuery({
    queryKey: ['admin', 'users', id, 'posts'],
    queryFn: () => client.request('GET', '/api/admin/users/{id}/posts', { path: { id }, query: { limit: POSTS } }),
    enabled: false,
  })
  return (
    <Section
      title="Posts"
      actions={
        <Button size="xs" variant="default" loading={posts.isFetching} onClick={() => void posts.refetch()}>
          Read the newest
        </Button>
      }
    >
      {posts.isPending && !posts.isFetching ? (
        <Alert variant="light">The audit log notes that you read them.</Alert>
      ) : (
        <QueryView query={posts}>
          {({ posts: list }) =>
            list.length === 0 ? (
              <Text c="dimmed">No posts.</Text>
            ) : (
              <Stack component="ul" gap="xs" m={0} p={0}>
                {list.map(({ _id, content, status, createdAt }) => (
                  <Group key={_id} component="li" justify="space-between" wrap="nowrap">
                    <Text size="sm" truncate>
                      {content.text || 'Without text'}
                    </Text>
                    <Group gap="xs" wrap="nowrap">
                      <Text size="xs" c="dimmed">
                        {dateTime(createdAt)}
                      </Text>
                      <PostStatusBadge status={status} />
                    </Group>
                  </Group>
                ))}
              </Stack>
            )
          }
        </QueryView>
      )}
    </Section>
  )
}
