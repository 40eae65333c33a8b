import type { Client } from '@postonce/sdk'
import type { Argument, Command, Option } from 'commander'
import { createAccountFinder } from './account-names.ts'
import { openClient, type GlobalOptions, type Io } from './io.ts'
import { ACCOUNT, GROUP } from './options.ts'

/** A command as an entry of a table. */
export interface CommandSpec<Options extends object = object> {
  /** The name and the arguments, such as `delete <post>`. */
  usage: string
  /** The line in the list of commands. */
  summary: string
  /** The text of the command's own help, where the summary is not enough. */
  description?: string
  /** Arguments that need more than their name. */
  arguments?: Argument[]
  options?: Option[]
  /** True for the command that runs when only its group is named. */
  isDefault?: boolean
  run(run: Run<Options>, ...args: string[]): Promise<void>
}

/** The input of a command that runs. */
export interface Run<Options extends object = object> {
  io: Io
  /** Options and arguments that take `<account>` have its id, whatever name the user gave. */
  options: GlobalOptions & Options
  /** The client; reading it throws a CliError without a login. */
  readonly client: Client
  /** The options of every call of the client. */
  call: { signal: AbortSignal }
  /** Prints a result: as JSON with `--json`, otherwise as `format` writes it. */
  print: <T>(result: T, format: (result: T) => string) => void
  /** Returns the id of an account by its id, label or handle. */
  findAccount: (name: string) => Promise<string>
}

/** The descriptions of arguments. */
const ARGUMENTS: Record<string, string> = {
  account: ACCOUNT,
  file: 'path of a .csv or .json file',
  group: GROUP,
  import: 'id of the import',
  label: 'your name for the account',
  name: 'name of the group',
  post: 'id of the post',
  text: 'text of the post; "-" reads standard input',
  url: 'https address of the receiver',
  webhook: 'id of the webhook',
}

/** Adds a group of commands, such as `accounts`. */
export function addGroup(program: Command, io: Io, name: string, summary: string, specs: CommandSpec[]): void {
  addCommands(program.command(name).description(summary), io, specs)
}

/** Adds the commands of a table. */
export function addCommands(parent: Command, io: Io, specs: CommandSpec[]): void {
  for (const spec of specs) {
    const { usage, summary, description = summary, options = [], isDefault = false } = spec
    const [name = '', ...args] = usage.split(' ')
    const command = parent.command(name, { isDefault }).summary(summary).description(description)
    for (const argument of args) command.argument(argument, ARGUMENTS[argument.slice(1, -1)])
    for (const argument of spec.arguments ?? []) command.addArgument(argument)
    for (const option of options) command.addOption(option)
    command.action(async () => {
      const run = createRun(io, command.optsWithGlobals())
      await spec.run(run, ...(await readArguments(run, command)))
    })
  }
}

function createRun(io: Io, options: GlobalOptions): Run {
  const call = { signal: io.signal }
  let client: Client | undefined
  const open = () => (client ??= openClient(io, options))
  return {
    io,
    options,
    call,
    get client() {
      return open()
    },
    print: (result, format) => io.print(options.json ? JSON.stringify(result, null, 2) : format(result)),
    findAccount: createAccountFinder(() => open().accounts.list(call)),
  }
}

/** Returns the arguments of a command, and replaces the accounts that they and the options name by their ids. */
async function readArguments({ options, findAccount }: Run, command: Command): Promise<string[]> {
  const values = options as Record<string, unknown>
  for (const option of command.options.filter(({ flags }) => flags.endsWith('<account>'))) {
    const name = option.attributeName()
    const given = values[name] as string | string[] | undefined
    if (typeof given === 'string') values[name] = await findAccount(given)
    if (Array.isArray(given)) values[name] = [...new Set(await Promise.all(given.map(findAccount)))]
  }
  return Promise.all(
    command.registeredArguments.map(async (argument, index) => {
      const given = command.processedArgs[index] as string
      return argument.name() === 'account' ? findAccount(given) : given
    }),
  )
}
