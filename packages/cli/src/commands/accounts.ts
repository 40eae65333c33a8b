import type { components } from '@postonce/sdk'
import { Argument, Option } from 'commander'
import type { CommandSpec, Run } from '../command.ts'
import { ACCOUNT } from '../options.ts'
import { formatFields, formatTable } from '../output.ts'
import { readSecret } from '../secrets.ts'

type Schemas = components['schemas']

interface ConnectOptions {
  replace?: boolean
}

interface DisconnectOptions {
  movePostsTo?: string
}

export const accountCommands: CommandSpec[] = [
  {
    usage: 'list',
    isDefault: true,
    summary: 'List connected accounts',
    description: 'Lists connected accounts. "*" marks the default account of a platform.',
    run: async ({ client, call, print }) => print(await client.accounts.list(call), formatAccounts),
  },
  {
    usage: 'connect',
    summary: 'Connect a Bluesky account',
    description:
      'Connects an account with an app password, which is read from the terminal or standard input. The other platforms connect ' +
      'accounts on a page of theirs, which has to return to a browser that is logged in to the service.',
    arguments: [
      new Argument('<platform>', 'platform of the account').choices(['bluesky']),
      new Argument('<handle>', 'handle of the account, such as ann.example'),
    ],
    options: [new Option('--replace', 'disconnect the default account of the platform in exchange')],
    async run({ io, client, call, print, options }: Run<ConnectOptions>, _platform, identifier) {
      const appPassword = await readSecret(io, 'App password: ')
      const connect = { replace: options.replace ?? false, ...call }
      print(await client.accounts.connectBluesky({ identifier, appPassword }, connect), ({ _id, profile, health }) =>
        formatFields({ account: _id, handle: profile?.handle, health: health?.status }),
      )
    },
  },
  {
    usage: 'label <account> [label]',
    summary: 'Give an account a name of yours, or remove it',
    run: async ({ client, call, print }, id, label?: string) =>
      print(await client.accounts.update(id, { label: label ?? null }, call), formatAccount),
  },
  {
    usage: 'default <account>',
    summary: 'Make an account the default of its platform',
    run: async ({ client, call, print }, id) =>
      print(await client.accounts.update(id, { isDefault: true }, call), formatAccount),
  },
  {
    usage: 'refresh <account>',
    summary: 'Check the connection of an account and update its profile',
    run: async ({ client, call, print }, id) => print(await client.accounts.refresh(id, call), formatAccount),
  },
  {
    usage: 'disconnect <account>',
    summary: 'Disconnect an account',
    options: [new Option('--move-posts-to <account>', `first move its waiting posts; ${ACCOUNT}`)],
    async run({ io, client, call, print, options: { movePostsTo } }: Run<DisconnectOptions>, id) {
      const result = await client.accounts.disconnect(id, movePostsTo === undefined ? {} : { movePostsTo }, call)
      const { movedPosts, waitingTotal } = result
      if (waitingTotal > 0) io.note(`Warning: Posts that fail unless the account is connected again: ${waitingTotal}`)
      print(result, () => formatFields({ account: id, status: 'disconnected', 'moved posts': movedPosts }))
    },
  },
]

const formatAccount = (account: Schemas['Account']) => formatAccounts([account])

function formatAccounts(accounts: Schemas['Account'][]): string {
  if (accounts.length === 0) return 'No accounts are connected.'
  return formatTable(accounts, [
    { title: 'ACCOUNT', value: ({ _id }) => _id },
    { title: 'PLATFORM', value: ({ platform, isDefault }) => `${platform}${isDefault ? ' *' : ''}` },
    { title: 'HANDLE', value: ({ profile }) => profile.handle },
    { title: 'LABEL', value: ({ label }) => label },
    { title: 'HEALTH', value: ({ health }) => health.status },
  ])
}
