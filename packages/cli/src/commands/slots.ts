import type { components } from '@postonce/sdk'
import { Option } from 'commander'
import type { CommandSpec, Run } from '../command.ts'
import { CliError, EXIT } from '../exit-codes.ts'
import { ACCOUNT, GROUP, repeatedOption } from '../options.ts'
import { formatTable } from '../output.ts'
import { formatTime } from '../times.ts'
import { findGroup } from './groups.ts'

type Schemas = components['schemas']

interface SetOptions {
  account?: string
  group?: string
  time?: string[]
  timezone?: string
}

interface UpcomingOptions {
  from: string
  to: string
}

const TIME = /^(\w+) (\d\d:\d\d)$/

export const slotCommands: CommandSpec[] = [
  {
    usage: 'list',
    isDefault: true,
    summary: 'List the weekly slots of accounts and groups',
    run: async ({ client, call, print }) => print((await client.slots.get(call)).slots, formatPlans),
  },
  {
    usage: 'set',
    summary: 'Replace the weekly slots of an account or a group',
    description: 'Replaces the weekly slots of an account or a group; without --time they are removed.',
    options: [
      new Option('--account <account>', ACCOUNT),
      new Option('--group <group>', GROUP),
      repeatedOption('--time <time>', 'a day and its time, such as "monday 09:30"'),
      new Option('--timezone <name>', 'IANA timezone of the times; that of this machine by default'),
    ],
    async run(run: Run<SetOptions>) {
      const { client, call, print, options } = run
      const target = await readTarget(run)
      const times = (options.time ?? []).map(parseSlotTime)
      const { slots, etag } = await client.slots.get(call)
      const others = slots.filter(
        ({ accountId, groupId }) => (accountId ?? groupId) !== (target.accountId ?? target.groupId),
      )
      const { timezone = Intl.DateTimeFormat().resolvedOptions().timeZone } = options
      const own = times.length === 0 ? [] : [{ ...target, timezone, times }]
      print((await client.slots.replace({ slots: [...others, ...own] }, { ...call, ifMatch: etag })).slots, formatPlans)
    },
  },
  {
    usage: 'upcoming',
    summary: 'List the slots of a range, with the posts that take them',
    options: [
      new Option('--from <date>', 'first day').makeOptionMandatory(),
      new Option('--to <date>', 'last day').makeOptionMandatory(),
    ],
    async run({ client, call, print, options: { from, to } }: Run<UpcomingOptions>) {
      const timezone = Intl.DateTimeFormat().resolvedOptions().timeZone
      print(await client.slots.upcoming({ from, to, timezone }, call), formatUpcoming)
    },
  },
]

async function readTarget(run: Run<SetOptions>): Promise<{ accountId?: string; groupId?: string }> {
  const { account, group } = run.options
  if ((account === undefined) === (group === undefined)) {
    throw new CliError('Name either --account or --group.', EXIT.usage)
  }
  return account === undefined
    ? { groupId: await findGroup(run, group!) }
    : { accountId: await run.findAccount(account) }
}

function parseSlotTime(text: string): Schemas['SlotTime'] {
  const [, day, time] = TIME.exec(text.trim().toLowerCase()) ?? []
  // The API checks the day.
  if (day && time) return { day: day as Schemas['SlotTime']['day'], time }
  throw new CliError(`"${text}" is not a weekly time. Use "monday 09:30".`, EXIT.usage)
}

function formatPlans(plans: Schemas['SlotPlan'][]): string {
  if (plans.length === 0) return 'No slots.'
  return formatTable(plans, [
    { title: 'FOR', value: (plan) => formatTarget(plan) },
    { title: 'ZONE', value: ({ timezone }) => timezone },
    { title: 'TIMES', value: ({ times }) => times.map(({ day, time }) => `${day} ${time}`).join(', ') },
  ])
}

function formatUpcoming(slots: Schemas['UpcomingSlot'][]): string {
  if (slots.length === 0) return 'No slots.'
  return formatTable(slots, [
    { title: 'TIME', value: ({ at }) => formatTime(at) },
    { title: 'FOR', value: (slot) => formatTarget(slot) },
    { title: 'POST', value: ({ postId }) => postId ?? 'free' },
  ])
}

const formatTarget = ({ accountId, groupId }: { accountId?: string; groupId?: string }) =>
  accountId === undefined ? `group ${groupId}` : `account ${accountId}`
