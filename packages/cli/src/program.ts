import { readFileSync } from 'node:fs'
import tab from '@bomb.sh/tab/commander'
import { Command } from 'commander'
import { addAccountCommands } from './commands/accounts.ts'
import { addAnalyticsCommand } from './commands/analytics.ts'
import { addEventsCommand } from './commands/events.ts'
import { addImportCommands } from './commands/imports.ts'
import { addLoginCommands } from './commands/login.ts'
import { addPostCommands } from './commands/posts.ts'
import { addPublishCommands } from './commands/publish.ts'
import { addWebhookCommands } from './commands/webhooks.ts'
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
  addLoginCommands(program, io)
  addPublishCommands(program, io)
  addPostCommands(program, io)
  addAccountCommands(program, io)
  addAnalyticsCommand(program, io)
  addEventsCommand(program, io)
  addImportCommands(program, io)
  addWebhookCommands(program, io)
  tab(program, { completionCommandName: 'completion' })
  return program
}
