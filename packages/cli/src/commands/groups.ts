import type { components } from '@postonce/sdk'
import { Option } from 'commander'
import type { CommandSpec, Run } from '../command.ts'
import { CliError, EXIT } from '../exit-codes.ts'
import { ACCOUNT, repeatedOption, withoutUndefined } from '../options.ts'
import { formatFields, formatTable } from '../output.ts'

type Group = components['schemas']['Group']

interface GroupOptions {
  account?: string[]
  color?: string
}

interface EditOptions extends GroupOptions {
  name?: string
}

const ID = /^[\da-f]{24}$/

const GROUP_OPTIONS = [
  repeatedOption('--account <account>', `an account of the group; ${ACCOUNT}`),
  new Option('--color <color>', 'such as #228be6'),
]

export const groupCommands: CommandSpec[] = [
  {
    usage: 'list',
    isDefault: true,
    summary: 'List groups of accounts',
    run: async ({ client, call, print }) => print(await client.groups.list(call), formatGroups),
  },
  {
    usage: 'create <name>',
    summary: 'Create a group of accounts',
    options: GROUP_OPTIONS,
    run: async ({ client, call, print, options }: Run<GroupOptions>, name) =>
      print(await client.groups.create({ name, ...toFields(options) }, call), formatGroup),
  },
  {
    usage: 'edit <group>',
    summary: 'Rename a group, or replace its color or accounts',
    description:
      'Changes what is given of a group. --account replaces all accounts. Posts that are stored keep theirs.',
    options: [new Option('--name <name>', 'the new name'), ...GROUP_OPTIONS],
    async run(run: Run<EditOptions>, group) {
      const { client, call, print, options } = run
      const change = { ...toFields(options), ...withoutUndefined({ name: options.name }) }
      if (Object.keys(change).length === 0) throw new CliError('Name what to change with an option.', EXIT.usage)
      print(await client.groups.update(await findGroup(run, group), change, call), formatGroup)
    },
  },
  {
    usage: 'delete <group>',
    summary: 'Delete a group; its accounts stay connected',
    async run(run, group) {
      const id = await findGroup(run, group)
      run.print(await run.client.groups.delete(id, run.call), () => formatFields({ group: id, status: 'deleted' }))
    },
  },
]

const toFields = ({ account, color }: GroupOptions) => withoutUndefined({ accountIds: account, color })

/** Returns the id of a group by its id or name, in any letter case. */
export async function findGroup({ client, call }: Run, group: string): Promise<string> {
  if (ID.test(group)) return group
  const toKey = (name: string) => name.trim().normalize().toLowerCase()
  const found = (await client.groups.list(call)).find(({ name }) => toKey(name) === toKey(group))
  if (found) return found.id
  throw new CliError(`No group is called "${group}". "postonce groups" lists them.`, EXIT.usage)
}

const formatGroup = (group: Group) => formatGroups([group])

function formatGroups(groups: Group[]): string {
  if (groups.length === 0) return 'No groups.'
  return formatTable(groups, [
    { title: 'GROUP', value: ({ id }) => id },
    { title: 'NAME', value: ({ name }) => name },
    { title: 'COLOR', value: ({ color }) => color },
    { title: 'ACCOUNTS', value: ({ accountIds }) => accountIds.join(',') },
  ])
}
