import type { Command } from 'commander'
import { openClient, printResult, type GlobalOptions, type Io } from '../io.ts'
import { formatTable } from '../output.ts'

export function addAccountCommands(program: Command, io: Io): void {
  program
    .command('accounts')
    .summary('List connected accounts')
    .description('Lists connected accounts. "*" marks the default account of a platform.')
    .action(async (_options: unknown, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const accounts = await openClient(io, options).accounts.list({ signal: io.signal })
      printResult(io, options, accounts, (listed) =>
        listed.length === 0
          ? 'No accounts are connected.'
          : formatTable(listed, [
              { title: 'ACCOUNT', value: ({ _id }) => _id },
              { title: 'PLATFORM', value: ({ platform, isDefault }) => `${platform}${isDefault ? ' *' : ''}` },
              { title: 'HANDLE', value: ({ profile }) => profile.handle },
              { title: 'LABEL', value: ({ label }) => label },
              { title: 'HEALTH', value: ({ health }) => health.status },
            ]),
      )
    })
}
