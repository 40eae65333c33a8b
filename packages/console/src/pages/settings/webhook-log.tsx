import { Accordion, Alert, Anchor, Badge, Button, Code, Group, Pagination, Stack, Text } from '@mantine/core'
import { modals } from '@mantine/modals'
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import type { components } from '@postonce/sdk'
import { Inbox } from 'lucide-react'
import { client } from '../../session/session.ts'
import { showDone, showError } from '../../shared/errors.ts'
import { Section } from '../../shared/section.tsx'
import { Empty, QueryView } from '../../shared/states.tsx'
import { fromNow, useTimes } from '../../shared/times.ts'
import { EVENT_TYPES } from './event-types.ts'
import { Secret } from './keys.tsx'

type Delivery = components['schemas']['WebhookDelivery']

const STATES: Record<Delivery['state'], { label: string; color: string }> = {
  pending: { label: 'Waiting', color: 'cyan' },
  delivered: { label: 'Delivered', color: 'teal' },
  failed: { label: 'Failed', color: 'red' },
}

/** The deliveries of a webhook, newest first, with what was sent and how the server answered. */
export function WebhookLog() {
  const { id } = useParams({ from: '/signed-in/settings/webhooks/$id' })
  const { page = 1 } = useSearch({ from: '/signed-in/settings/webhooks/$id' })
  const navigate = useNavigate({ from: '/settings/webhooks/$id' })
  const queries = useQueryClient()
  const log = useQuery({
    queryKey: ['webhooks', id, 'log', page],
    queryFn: () => client.request('GET', '/api/webhooks/{id}/deliveries', { path: { id }, query: { page } }),
    placeholderData: keepPreviousData,
  })
  const redelivering = useMutation({
    mutationFn: (deliveryId: string) => client.webhooks.redeliver(id, deliveryId),
    onError: showError,
    onSuccess: () => showDone('The event is sent once more.'),
    onSettled: () => queries.invalidateQueries({ queryKey: ['webhooks', id] }),
  })
  const rotating = useMutation({
    mutationFn: () => client.webhooks.rotateSecret(id),
    onError: showError,
    onSuccess: ({ secret }) =>
      modals.open({
        title: 'The new secret',
        closeOnClickOutside: false,
        children: (
          <Stack>
            <Alert variant="light">The old secret stays valid for 24 hours.</Alert>
            <Secret value={secret} />
          </Stack>
        ),
      }),
  })
  return (
    <Stack>
      <Anchor component={Link} to="/settings/webhooks" size="sm">
        All webhooks
      </Anchor>
      <Section
        title="Deliveries"
        actions={
          <Button size="xs" variant="default" loading={rotating.isPending} onClick={() => rotating.mutate()}>
            New secret
          </Button>
        }
      >
        <QueryView query={log}>
          {({ deliveries, totalPages }) =>
            deliveries.length === 0 ? (
              <Empty icon={Inbox} title="Nothing was sent yet">
                Send a test event from the list of webhooks.
              </Empty>
            ) : (
              <Stack>
                <Accordion variant="separated">
                  {deliveries.map((delivery) => (
                    <Accordion.Item key={delivery.id} value={delivery.id}>
                      <Accordion.Control>
                        <Group gap="sm">
                          <Badge variant="light" color={STATES[delivery.state].color}>
                            {STATES[delivery.state].label}
                          </Badge>
                          <Text size="sm">
                            {delivery.eventType === 'webhook.test' ? 'Test' : EVENT_TYPES[delivery.eventType]}
                          </Text>
                          <Text size="sm" c="dimmed">
                            {fromNow(delivery.createdAt)}
                          </Text>
                        </Group>
                      </Accordion.Control>
                      <Accordion.Panel>
                        <DeliveryDetails
                          delivery={delivery}
                          isSending={redelivering.isPending}
                          send={() => redelivering.mutate(delivery.id)}
                        />
                      </Accordion.Panel>
                    </Accordion.Item>
                  ))}
                </Accordion>
                {totalPages > 1 && (
                  <Pagination
                    total={totalPages}
                    value={page}
                    onChange={(number) => void navigate({ search: { page: number } })}
                  />
                )}
              </Stack>
            )
          }
        </QueryView>
      </Section>
    </Stack>
  )
}

interface DeliveryDetailsProps {
  delivery: Delivery
  isSending: boolean
  send: () => void
}

function DeliveryDetails({ delivery, isSending, send }: DeliveryDetailsProps) {
  const { dateTime } = useTimes()
  return (
    <Stack gap="xs">
      <Code block className="user-text">
        {delivery.request}
      </Code>
      {delivery.attempts.map(({ at, status, error, response, durationMs }) => (
        <Text key={at} size="sm" className="user-text">
          {dateTime(at)}: {status === null ? (error ?? 'no answer') : `status ${status}`} after {durationMs} ms
          {response ? `, “${response.slice(0, 200)}”` : ''}
        </Text>
      ))}
      {delivery.nextAttemptAt && <Text size="sm">Next attempt {fromNow(delivery.nextAttemptAt)}</Text>}
      <Group>
        <Button size="compact-sm" variant="default" loading={isSending} onClick={send}>
          Send again
        </Button>
      </Group>
    </Stack>
  )
}
