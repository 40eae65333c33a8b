import type { Client, components } from '@postonce/sdk'
import { Option, type Command } from 'commander'
import { openClient, printResult, type GlobalOptions, type Io } from '../io.ts'
import { parseCount, wordsOption } from '../options.ts'
import { formatFields, formatTable } from '../output.ts'
import { formatTime, parseTime } from '../times.ts'
import { EVENT_TYPES } from './event-types.ts'

type Schemas = components['schemas']
type Webhook = Schemas['Webhook']
type Delivery = Schemas['WebhookDelivery']

interface CreateOptions extends GlobalOptions {
  events?: Schemas['EventType'][]
  description?: string
}

interface DeliveriesOptions extends GlobalOptions {
  state?: Schemas['WebhookDeliveryState']
  limit: number
}

const DEFAULT_LIMIT = 20

export function addWebhookCommands(program: Command, io: Io): void {
  const webhooks = program.command('webhooks').description('Manage webhooks and read their deliveries')

  webhooks
    .command('list', { isDefault: true })
    .description('List webhooks')
    .action(async (_options: unknown, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const listed = await openClient(io, options).webhooks.list({ signal: io.signal })
      printResult(io, options, listed, formatWebhooks)
    })

  webhooks
    .command('create')
    .description('Create a webhook and print its secret, which cannot be read again')
    .argument('<url>', 'https address of the receiver')
    .addOption(wordsOption('--events <types>', 'only events of these types', EVENT_TYPES))
    .option('--description <text>', 'your note')
    .action(async (url: string, _options: unknown, command: Command) => {
      const options = command.optsWithGlobals<CreateOptions>()
      const body = {
        url,
        ...(options.events ? { events: options.events } : {}),
        ...(options.description === undefined ? {} : { description: options.description }),
      }
      const created = await openClient(io, options).webhooks.create(body, { signal: io.signal })
      printResult(io, options, created, ({ id, secret }) => formatFields({ webhook: id, url, secret }))
    })

  webhooks
    .command('deliveries')
    .description('List deliveries to a webhook, newest first')
    .argument('<webhook>', 'id of the webhook')
    .addOption(
      new Option('--state <state>', 'only deliveries in this state').choices(['pending', 'delivered', 'failed']),
    )
    .addOption(new Option('--limit <number>', 'most deliveries to print').default(DEFAULT_LIMIT).argParser(parseCount))
    .action(async (id: string, _options: unknown, command: Command) => {
      const options = command.optsWithGlobals<DeliveriesOptions>()
      printResult(io, options, await listDeliveries(io, openClient(io, options), id, options), formatDeliveries)
    })

  webhooks
    .command('redeliver')
    .description('Send the events since a time once more, in their order')
    .argument('<webhook>', 'id of the webhook')
    .requiredOption('--since <time>', 'such as 2027-05-01T09:30')
    .action(async (id: string, _options: unknown, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions & { since: string }>()
      await openClient(io, options).webhooks.redeliverSince(id, parseTime(options.since, Date.now()).toISOString(), {
        signal: io.signal,
      })
      io.note('The events are being sent.')
    })

  addChange(webhooks, io, 'test', 'Send a test event', (client, id, call) => client.webhooks.test(id, call))
  addChange(
    webhooks,
    io,
    'rotate-secret',
    'Create a new secret; the old one is valid for 24 hours',
    (client, id, call) => client.webhooks.rotateSecret(id, call),
  )
  addChange(webhooks, io, 'enable', 'Deliver events from now on', (client, id, call) =>
    client.webhooks.update(id, { enabled: true }, call),
  )
  addChange(webhooks, io, 'disable', 'Stop deliveries', (client, id, call) =>
    client.webhooks.update(id, { enabled: false }, call),
  )
  addChange(webhooks, io, 'delete', 'Delete a webhook', (client, id, call) => client.webhooks.delete(id, call))
}

/** Adds a command that takes a webhook and prints what the API returns. */
function addChange(
  webhooks: Command,
  io: Io,
  name: string,
  description: string,
  change: (client: Client, id: string, call: { signal: AbortSignal }) => Promise<object>,
): void {
  webhooks
    .command(name)
    .description(description)
    .argument('<webhook>', 'id of the webhook')
    .action(async (id: string, _options: unknown, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const result = await change(openClient(io, options), id, { signal: io.signal })
      printResult(io, options, result, (changed) =>
        formatFields({
          webhook: id,
          ...('secret' in changed ? { secret: String(changed.secret) } : { [name]: 'done' }),
        }),
      )
    })
}

async function listDeliveries(
  io: Io,
  client: Client,
  id: string,
  { state, limit }: DeliveriesOptions,
): Promise<Delivery[]> {
  const found: Delivery[] = []
  if (limit === 0) return found
  for await (const delivery of client.webhooks.iterateDeliveries(id, state ? { state } : {}, { signal: io.signal })) {
    found.push(delivery)
    if (found.length >= limit) break
  }
  return found
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
