import { Anchor, Badge, Button, Group, MultiSelect, Stack, Switch, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { modals } from '@mantine/modals'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { components } from '@postonce/sdk'
import { Webhook as WebhookIcon } from 'lucide-react'
import { client } from '../../session/session.ts'
import { askToConfirm } from '../../shared/ask-to-confirm.ts'
import { problemsByField, showDone, showError } from '../../shared/errors.ts'
import { FieldForm } from '../../shared/field-form.tsx'
import { Section } from '../../shared/section.tsx'
import { Empty, QueryView } from '../../shared/states.tsx'
import { fromNow, useTimes } from '../../shared/times.ts'
import { EVENT_TYPES } from './event-types.ts'
import { Secret } from './keys.tsx'

type Webhook = components['schemas']['Webhook']

export function WebhookSettings() {
  const webhooks = useQuery({ queryKey: ['webhooks'], queryFn: () => client.webhooks.list() })
  return (
    <Section
      title="Webhooks"
      lead="postonce reports to your own servers what happens, signed and repeated until received."
      actions={
        <Button size="xs" onClick={() => askForWebhook()}>
          New webhook
        </Button>
      }
    >
      <QueryView query={webhooks}>
        {(list) =>
          list.length === 0 ? (
            <Empty icon={WebhookIcon} title="No webhooks yet">
              Give the https address of a server of yours, and choose what it wants to know.
            </Empty>
          ) : (
            <Stack component="ul" gap="md" m={0} p={0}>
              {list.map((webhook) => (
                <WebhookRow key={webhook.id} webhook={webhook} />
              ))}
            </Stack>
          )
        }
      </QueryView>
    </Section>
  )
}

function WebhookRow({ webhook }: { webhook: Webhook }) {
  const { id, url, events, description, enabled, failingSince, lastDeliveredAt } = webhook
  const queries = useQueryClient()
  const { dateTime } = useTimes()
  const settled = () => queries.invalidateQueries({ queryKey: ['webhooks'] })
  const switching = useMutation({
    mutationFn: (on: boolean) => client.webhooks.update(id, { enabled: on }),
    onError: showError,
    onSettled: settled,
  })
  const acting = useMutation({
    mutationFn: (act: () => Promise<unknown>) => act(),
    onError: showError,
    onSettled: settled,
  })
  const askToDelete = () =>
    askToConfirm({
      title: 'Delete this webhook?',
      children: <Text size="sm">{url} gets no further events, and its log is deleted.</Text>,
      labels: { confirm: 'Delete', cancel: 'Back' },
      confirmProps: { color: 'red' },
      onConfirm: () => acting.mutate(() => client.webhooks.delete(id)),
    })
  return (
    <Group component="li" justify="space-between" align="flex-start" gap="sm">
      <Stack gap={2} miw={240} flex={1}>
        <Anchor component={Link} to={`/settings/webhooks/${id}`} className="user-text">
          {url}
        </Anchor>
        <Text size="sm" c="dimmed">
          {description ? `${description} · ` : ''}
          {events.length === 0 ? 'all events' : events.map((type) => EVENT_TYPES[type]).join(', ')}
        </Text>
        <Text size="sm" c="dimmed">
          {lastDeliveredAt ? `last delivered ${fromNow(lastDeliveredAt)}` : 'nothing delivered yet'}
        </Text>
        {failingSince && (
          <Badge variant="light" color="red">
            failing since {dateTime(failingSince)}
          </Badge>
        )}
      </Stack>
      <Group gap="xs">
        <Switch
          label="On"
          checked={enabled}
          disabled={switching.isPending}
          onChange={({ currentTarget }) => switching.mutate(currentTarget.checked)}
        />
        <Button
          size="compact-sm"
          variant="default"
          loading={acting.isPending}
          onClick={() =>
            acting.mutate(async () => {
              await client.webhooks.test(id)
              showDone('A test event is on its way. The log shows how it was answered.')
            })
          }
        >
          Test
        </Button>
        <Button size="compact-sm" variant="default" onClick={() => askForWebhook(webhook)}>
          Edit
        </Button>
        <Button size="compact-sm" variant="subtle" color="red" onClick={askToDelete}>
          Delete
        </Button>
      </Group>
    </Group>
  )
}

/** Opens the form of a new webhook, or of one to change. */
function askForWebhook(webhook?: Webhook): void {
  const modalId = modals.open({
    title: webhook ? 'Edit the webhook' : 'A new webhook',
    children: <WebhookForm webhook={webhook} done={() => modals.close(modalId)} />,
  })
}

function WebhookForm({ webhook, done }: { webhook: Webhook | undefined; done: () => void }) {
  const queries = useQueryClient()
  const { url = '', events = [], description = '' } = webhook ?? {}
  const form = useForm({ mode: 'uncontrolled', initialValues: { url, events, description } })
  const saving = useMutation({
    mutationFn: async (body: typeof form.values): Promise<Webhook & { secret?: string }> =>
      webhook
        ? client.request('PATCH', '/api/webhooks/{id}', { path: { id: webhook.id }, body, ifMatch: webhook.etag })
        : client.webhooks.create(body),
    onError: (error) => form.setErrors(problemsByField(error)),
    onSuccess: async (saved) => {
      await queries.invalidateQueries({ queryKey: ['webhooks'] })
      done()
      if (saved.secret !== undefined)
        modals.open({
          title: 'The secret of the webhook',
          children: <Secret value={saved.secret} />,
          closeOnClickOutside: false,
        })
    },
  })
  return (
    <FieldForm sending={saving} onSubmit={form.onSubmit((values) => saving.mutate(values))} submit="Save">
      <TextInput
        label="Address"
        placeholder="https://example.com/hooks/postonce"
        required
        data-autofocus
        key={form.key('url')}
        {...form.getInputProps('url')}
      />
      <MultiSelect
        label="Events"
        placeholder="All events"
        data={Object.entries(EVENT_TYPES).map(([value, label]) => ({ value, label }))}
        searchable
        key={form.key('events')}
        {...form.getInputProps('events')}
      />
      <TextInput
        label="Description"
        maxLength={200}
        key={form.key('description')}
        {...form.getInputProps('description')}
      />
    </FieldForm>
  )
}
