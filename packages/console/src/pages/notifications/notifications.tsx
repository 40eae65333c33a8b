import { Accordion, Anchor, Badge, Button, Group, Pagination, Paper, Stack, Text, ThemeIcon } from '@mantine/core'
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import type { components } from '@postonce/sdk'
import { BellOff, CircleCheck, CircleX, Info, TriangleAlert, type LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import { useIsLive } from '../../session/live.ts'
import { client } from '../../session/session.ts'
import { showError } from '../../shared/errors.ts'
import { Page } from '../../shared/page.tsx'
import { Empty, QueryView } from '../../shared/states.tsx'
import { fromNow } from '../../shared/times.ts'

type Notification = components['schemas']['Notification']

const TYPES: Record<Notification['type'], { icon: LucideIcon; color: string; label: string }> = {
  success: { icon: CircleCheck, color: 'teal', label: 'Success' },
  error: { icon: CircleX, color: 'red', label: 'Error' },
  warning: { icon: TriangleAlert, color: 'yellow', label: 'Warning' },
  info: { icon: Info, color: 'blue', label: 'Information' },
}

const PAGE_SIZE = 20

export function NotificationsPage() {
  const { page = 1 } = useSearch({ from: '/signed-in/notifications' })
  const navigate = useNavigate({ from: '/notifications' })
  const queries = useQueryClient()
  const isLive = useIsLive()
  const query = { page, limit: PAGE_SIZE, grouped: true }
  const list = useQuery({
    queryKey: ['notifications', 'list', query],
    queryFn: () => client.request('GET', '/api/notifications', { query }),
    placeholderData: keepPreviousData,
  })
  const changed = () => queries.invalidateQueries({ queryKey: ['notifications'] })
  const readingAll = useMutation({
    mutationFn: () => client.request('PATCH', '/api/notifications/read-all'),
    onError: showError,
    onSettled: changed,
  })
  const reading = useMutation({
    mutationFn: (id: string) =>
      client.request('PATCH', '/api/notifications/{id}/read', { path: { id }, query: { grouped: true } }),
    onError: showError,
    onSettled: changed,
  })
  return (
    <Page
      title="Notifications"
      lead={isLive ? 'New ones appear as they happen.' : 'Not connected at the moment; new ones appear when you are.'}
      actions={
        <Button
          variant="default"
          disabled={list.data?.unread === 0}
          loading={readingAll.isPending}
          onClick={() => readingAll.mutate()}
        >
          Mark all as read
        </Button>
      }
    >
      <QueryView query={list}>
        {({ notifications, total, limit }) =>
          notifications.length === 0 ? (
            <Empty icon={BellOff} title="No notifications yet">
              A post that is published or fails, and an account that needs you, appear here.
            </Empty>
          ) : (
            <Stack>
              <Stack component="ul" gap="xs" m={0} p={0}>
                {notifications.map((one) => (
                  <NotificationGroup key={one._id} latest={one} read={() => reading.mutate(one._id)} />
                ))}
              </Stack>
              {total > limit && (
                <Pagination
                  total={Math.ceil(total / limit)}
                  value={page}
                  onChange={(number) => void navigate({ search: { page: number } })}
                />
              )}
            </Stack>
          )
        }
      </QueryView>
    </Page>
  )
}

/** The notifications of a post as one entry: the newest, and the others folded unless one of them is a problem. */
function NotificationGroup({ latest, read }: { latest: Notification; read: () => void }) {
  const { unread = latest.read ? 0 : 1, others = [] } = latest.group ?? {}
  return (
    <Paper component="li" withBorder p="sm" className="surface">
      <Stack gap="xs">
        <Line notification={latest}>
          {unread > 0 && (
            <Button size="compact-xs" variant="subtle" onClick={read}>
              Mark as read
            </Button>
          )}
        </Line>
        {others.length > 0 && (
          <Accordion
            chevronPosition="left"
            defaultValue={others.some(({ type }) => type === 'error') ? 'earlier' : null}
          >
            <Accordion.Item value="earlier" style={{ border: 0 }}>
              <Accordion.Control py={0} px={0}>
                <Text size="sm" c="dimmed">
                  {others.length} more about this post
                </Text>
              </Accordion.Control>
              <Accordion.Panel>
                <Stack gap="xs">
                  {others.map((one) => (
                    <Line key={one._id} notification={one} />
                  ))}
                </Stack>
              </Accordion.Panel>
            </Accordion.Item>
          </Accordion>
        )}
      </Stack>
    </Paper>
  )
}

function Line({ notification, children }: { notification: Notification; children?: ReactNode }) {
  const { message, type, read, createdAt, reference, options } = notification
  const { icon: Icon, color, label } = TYPES[type]
  return (
    <Group wrap="nowrap" align="flex-start" gap="sm">
      <ThemeIcon variant="light" color={color} radius="xl" size={28}>
        <Icon size={15} role="img" aria-label={label} />
      </ThemeIcon>
      <Stack gap={2} flex={1} miw={0}>
        <Text size="sm" fw={read ? 400 : 600} className="user-text">
          {message}
        </Text>
        <Group gap="sm">
          <Text size="xs" c="dimmed">
            {fromNow(createdAt)}
          </Text>
          {!read && (
            <Badge size="xs" variant="light">
              new
            </Badge>
          )}
          {reference.type === 'post' && (
            <Anchor component={Link} to={`/posts/${reference.id}`} size="xs">
              The post
            </Anchor>
          )}
          {reference.type === 'platform' && (
            <Anchor component={Link} to="/accounts" size="xs">
              Accounts
            </Anchor>
          )}
          {options.link && (
            <Anchor href={options.link} target="_blank" rel="noreferrer" size="xs">
              On the platform
            </Anchor>
          )}
        </Group>
      </Stack>
      {children}
    </Group>
  )
}
