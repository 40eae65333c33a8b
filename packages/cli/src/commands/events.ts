import type { Event, EventType } from '@postonce/sdk'
import { Option } from 'commander'
import type { CommandSpec, Run } from '../command.ts'
import { parseCount, wordsOption } from '../options.ts'
import { formatTime } from '../times.ts'
import { EVENT_TYPES } from './event-types.ts'

interface EventsOptions {
  follow?: boolean
  after?: number
  types?: EventType[]
  limit?: number
}

export const eventsCommand: CommandSpec = {
  usage: 'events',
  summary: 'List events, or follow them',
  description:
    'Lists stored events, oldest first, or follows new ones with --follow until Ctrl-C. With --json, each line is an event. The number in ' +
    'front of an event is its sequence; pass the last one as --after to continue.',
  options: [
    new Option('--follow', 'print events as they happen'),
    new Option('--after <sequence>', 'only events after this one').argParser(parseCount),
    wordsOption('--types <types>', 'only these types', EVENT_TYPES),
    new Option('--limit <number>', 'end after this many events').argParser(parseCount),
  ],
  async run({ io, client, options }: Run<EventsOptions>) {
    const { after, types, follow, limit = Infinity, json } = options
    const selection = { after, types, signal: io.signal }
    let printed = 0
    if (limit === 0) return
    for await (const event of follow ? client.events.follow(selection) : client.events.iterate(selection)) {
      io.print(json ? JSON.stringify(event) : formatEvent(event))
      printed += 1
      if (printed >= limit) return
    }
  },
}

/** Formats an event as a line: its sequence, time, type, and the plain values of its data. */
function formatEvent({ sequence, timestamp, type, data }: Event): string {
  const values = Object.entries(data)
    .filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value))
    .map(([name, value]) => `${name}=${String(value)}`)
  return [sequence, formatTime(timestamp), type, ...values].join('  ').replace(/\p{Cc}+/gu, ' ')
}
