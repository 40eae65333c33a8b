import { readFileSync } from 'node:fs'
import tab from '@bomb.sh/tab/commander'
import { Command } from 'commander'
import { addCommands, addGroup } from './command.ts'
import { accountCommands } from './commands/accounts.ts'
import { analyticsCommand } from './commands/analytics.ts'
import { eventsCommand } from './commands/events.ts'
import { groupCommands } from './commands/groups.ts'
import { fileCommands, importCommands } from './commands/imports.ts'
import { limitsCommand } from './commands/limits.ts'
import { loginCommands } from './commands/login.ts'
import { mediaCommands } from './commands/media.ts'
import { postCommands } from './commands/posts.ts'
import { publishCommands } from './commands/publish.ts'
import { slotCommands } from './commands/slots.ts'
import { webhookCommands } from './commands/webhooks.ts'
import type { Io } from './io.ts'

/** Beside `src` and `dist`. */
const MANIFEST = new URL('../package.json', import.meta.url)

const AFTER_HELP = `
Environment:
  POSTONCE_URL         Address of the service; preferred to the stored one
  POSTONCE_API_KEY     API key; preferred to stored credentials
  POSTONCE_CONFIG_DIR  Folder of credentials.json; default ~/.config/postonce

Exit codes:
  0  done                      4  refused by the API
  1  another problem           5  no response, rate limit or server failure: try again
  2  invalid arguments         6  not published on every account, import incomplete
  3  not logged in, no scope   130  ended by Ctrl-C

Shell completion:
  source <(postonce completion bash)      also zsh, fish, powershell`

/** Creates the command line. Nothing runs before it parses arguments. */
export function createProgram(io: Io): Command {
  const { version } = JSON.parse(readFileSync(MANIFEST, 'utf8')) as { version: string }
  const program = new Command('postonce')
    .version(version)
    .description('Write posts, publish or schedule them, and follow what happens.')
    .option('--json', 'print JSON instead of text')
    .option('--url <address>', 'address of the service')
    .addHelpText('after', AFTER_HELP)
    .configureHelp({ showGlobalOptions: true })
    .showHelpAfterError('Run with --help for usage.')
    .exitOverride()
  addCommands(program, io, [...loginCommands, ...publishCommands, ...postCommands, ...fileCommands])
  addCommands(program, io, [limitsCommand, analyticsCommand, eventsCommand])
  addGroup(program, io, 'accounts', 'List, connect and change accounts', accountCommands)
  addGroup(program, io, 'groups', 'List and change groups of accounts', groupCommands)
  addGroup(program, io, 'imports', 'Follow and change imports', importCommands)
  addGroup(program, io, 'media', 'List and delete uploaded media', mediaCommands)
  addGroup(program, io, 'slots', 'List and change weekly slots', slotCommands)
  addGroup(program, io, 'webhooks', 'Manage webhooks and read their deliveries', webhookCommands)
  tab(program, { completionCommandName: 'completion' })
  return program
}
