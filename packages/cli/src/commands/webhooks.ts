import type { Client, components } from '@postonce/sdk'
import { Option } from 'commander'
import type { CommandSpec, Run } from '../command.ts'
import { limitOption, take, withoutUndefined, wordsOption } from '../options.ts'
import { formatFields, formatTable } from '../output.ts'
import { formatTime, parseTime } from '../times.ts'
import { EVENT_TYPES } from './event-types.ts'

type Schemas = components['schemas']
type Webhook = Schemas['Webhook']
type Delivery = Schemas['WebhookDelivery']

interface CreateOptions {
  events?: Schemas['EventType'][]
  description?: string
}

interface DeliveriesOptions {
  state?: Schemas['WebhookDeliveryState']
  limit: number
}

export const webhookCommands: CommandSpec[] = [
  {
    usage: 'list',
    isDefault: true,
    summary: 'List webhooks',
    run: async ({ client, call, print }) => print(await client.webhooks.list(call), formatWebhooks),
  },
  {
    usage: 'create <url>',
    summary: 'Create a webhook and print its secret, which cannot be read again',
    options: [
      wordsOption('--events <types>', 'only events of these types', EVENT_TYPES),
      new Option('--description <text>', 'your note'),
    ],
    async run({ client, call, print, options: { events, description } }: Run<CreateOptions>, url) {
      const created = await client.webhooks.create({ ...withoutUndefined({ events, description }), url }, call)
      print(created, ({ id, secret }) => formatFields({ webhook: id, url, secret }))
    },
  },
  {
    usage: 'deliveries <webhook>',
    summary: 'List deliveries to a webhook, newest first',
    options: [
      new Option('--state <state>', 'only deliveries in this state').choices(['pending', 'delivered', 'failed']),
      limitOption('deliveries'),
    ],
    async run({ client, call, print, options: { state, limit } }: Run<DeliveriesOptions>, id) {
      const deliveries = client.webhooks.iterateDeliveries(id, withoutUndefined({ state }), call)
      print(await take(deliveries, limit), formatDeliveries)
    },
  },
  {
    usage: 'redeliver <webhook>',
    summary: 'Send the events since a time once more, in their order',
    options: [new Option('--since <time>', 'such as 2027-05-01T09:30').makeOptionMandatory()],
    async run({ io, client, call, options: { since } }: Run<{ since: string }>, id) {
      await client.webhooks.redeliverSince(id, parseTime(since, Date.now()).toISOString(), call)
      io.note('The events are being sent.')
    },
  },
  toChange('test', 'Send a test event', ({ webhooks }, id, call) => webhooks.test(id, call)),
  toChange('rotate-secret', 'Create a new secret; the old one is valid for 24 hours', ({ webhooks }, id, call) =>
    webhooks.rotateSecret(id, call),
  ),
  toChange('enable', 'Deliver events from now on', ({ webhooks }, id, call) =>
    webhooks.update(id, { enabled: true }, call),
  ),
  toChange('disable', 'Stop deliveries', ({ webhooks }, id, call) => webhooks.update(id, { enabled: false }, call)),
  toChange('delete', 'Delete a webhook', ({ webhooks }, id, call) => webhooks.delete(id, call)),
]

/** Returns a command that takes a webhook and prints what the API returns. */
function toChange(
  name: string,
  summary: string,
  change: (client: Client, id: string, call: Run['call']) => Promise<object>,
): CommandSpec {
  return {
    usage: `${name} <webhook>`,
    summary,
    run: async ({ client, call, print }, id) =>
      print(await change(client, id, call), (changed) =>
        formatFields({
          webhook: id,
          ...('secret' in changed ? { secret: String(changed.secret) } : { [name]: 'done' }),
        }),
      ),
  }
}

function formatWebhooks(listed: Webhook[]): string {
  if (listed.length === 0) return 'No webhooks.'
  return formatTable(listed, [
    { title: 'WEBHOOK', value: ({ id }) => id },
    { title: 'STATE', value: ({ enabled, disabledReason }) => (enabled ? 'enabled' : `disabled: ${disabledReason}`) },
    { title: 'EVENTS', value: ({ events }) => events.join(',') || 'all' },
    { title: 'LAST DELIVERY', value: ({ lastDeliveredAt }) => formatTime(lastDeliveredAt) },
    { title: 'URL', value: ({ url }) => url },
  ])
}

function formatDeliveries(listed: Delivery[]): string {
  if (listed.length === 0) return 'No deliveries.'
  return formatTable(listed, [
    { title: 'DELIVERY', value: ({ id }) => id },
    { title: 'STATE', value: ({ state }) => state },
    { title: 'TIME', value: ({ createdAt }) => formatTime(createdAt) },
    { title: 'EVENT', value: ({ eventType }) => eventType },
    { title: 'ATTEMPTS', value: ({ attemptCount }) => attemptCount },
    { title: 'NEXT ATTEMPT', value: ({ nextAttemptAt }) => formatTime(nextAttemptAt) },
  ])
}
