import { extname } from 'node:path'
import type { Client, Import, ImportRow } from '@postonce/sdk'
import { Option, type Command } from 'commander'
import { CliError, EXIT } from '../exit-codes.ts'
import { openFile } from '../files.ts'
import { openClient, printResult, type GlobalOptions, type Io } from '../io.ts'
import { parseCount } from '../options.ts'
import { formatFields, formatTable } from '../output.ts'
import { formatTime } from '../times.ts'

interface PlanOptions extends ApplyOptions {
  gap?: number
  timezone: string
  dateOrder?: 'dmy' | 'mdy'
  apply?: boolean
}

interface ApplyOptions extends GlobalOptions {
  skipErrors?: boolean
  skipConflicts?: boolean
}

/** More rows with findings are left to `postonce imports rows`. */
const ROWS_IN_PLAN = 20
const FOUND = ['error', 'conflict', 'warning', 'failed'] as const

export function addImportCommands(program: Command, io: Io): void {
  addApplyOptions(
    program
      .command('import')
      .summary('Import posts from a CSV or JSON file')
      .description(
        'Uploads a file of posts and shows what creating them would do. With --apply it also creates them, and waits until that is done. ' +
          'The columns of a CSV file include text, platforms and scheduledAt.',
      )
      .argument('<file>', 'a .csv or .json file')
      .option('--apply', 'create the posts')
      .addOption(new Option('--gap <minutes>', 'least distance between posts of an account').argParser(parseCount))
      .option('--timezone <zone>', 'time zone of rows without one', Intl.DateTimeFormat().resolvedOptions().timeZone)
      .addOption(
        new Option(
          '--date-order <order>',
          'order of day and month in a CSV file, unless its dates begin with the year',
        ).choices(['dmy', 'mdy']),
      ),
  ).action(async (file: string, _options: unknown, command: Command) => {
    const options = command.optsWithGlobals<PlanOptions>()
    const client = openClient(io, options)
    const plan = await planFile(io, client, file, options)
    if (options.apply) return applyImport(io, client, plan.id, options)
    printResult(io, options, plan, (planned) => formatImport(planned))
    if (!options.json) await printFindings(io, client, plan.id)
    io.note(`To create the posts: postonce imports apply ${plan.id}`)
  })

  const imports = program.command('imports').description('Follow and change imports')

  imports
    .command('list', { isDefault: true })
    .description('List imports, newest first')
    .action(async (_options: unknown, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      printResult(io, options, await openClient(io, options).imports.list({ signal: io.signal }), formatImports)
    })

  imports
    .command('rows')
    .description('List the rows of an import that have errors, conflicts or warnings, or failed')
    .argument('<import>', 'id of the import')
    .action(async (id: string, _options: unknown, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>()
      const rows: ImportRow[] = []
      const found = openClient(io, options).imports.iterateRows(id, { status: [...FOUND] }, { signal: io.signal })
      for await (const row of found) rows.push(row)
      printResult(io, options, rows, formatRows)
    })

  addApplyOptions(
    imports
      .command('apply')
      .description('Create the posts of an import, and wait until that is done; exit code 6 if some are not created')
      .argument('<import>', 'id of the import'),
  ).action((id: string, _options: unknown, command: Command) => {
    const options = command.optsWithGlobals<ApplyOptions>()
    return applyImport(io, openClient(io, options), id, options)
  })

  for (const [name, description] of [
    ['show', 'Show the state of an import'],
    ['pause', 'Pause an import after the current rows'],
    ['resume', 'Continue a paused import'],
    ['cancel', 'End an import; the posts that it created stay'],
  ] as const) {
    imports
      .command(name)
      .description(description)
      .argument('<import>', 'id of the import')
      .action(async (id: string, _options: unknown, command: Command) => {
        const options = command.optsWithGlobals<GlobalOptions>()
        const call = { signal: io.signal }
        const { imports: api } = openClient(io, options)
        printResult(io, options, await (name === 'show' ? api.get(id, call) : api[name](id, call)), formatImport)
      })
  }
}

function addApplyOptions(command: Command): Command {
  return command
    .option('--skip-errors', 'leave out rows with errors; without it, nothing is created if a row has errors')
    .option('--skip-conflicts', 'leave out rows with conflicts')
}

async function planFile(
  io: Io,
  client: Client,
  path: string,
  { gap, timezone, dateOrder }: PlanOptions,
): Promise<Import> {
  const contentType = ({ '.csv': 'text/csv', '.json': 'application/json' } as const)[extname(path).toLowerCase()]
  if (contentType === undefined) throw new CliError(`${path} must end with .csv or .json.`, EXIT.usage)
  const file = await openFile(path)
  io.progress(`Reading ${path}`)
  return client.imports.plan(file, { contentType, gapMinutes: gap, timezone, dateOrder, signal: io.signal })
}

async function applyImport(io: Io, client: Client, id: string, options: ApplyOptions): Promise<void> {
  const { skipErrors = false, skipConflicts = false } = options
  await client.imports.apply(id, { skipErrors, skipConflicts }, { signal: io.signal })
  const ended = await client.imports.waitUntilApplied(id, {
    signal: io.signal,
    onProgress: ({ counts, rows }) => {
      const done = counts.created + counts.skipped + counts.failed
      io.progress(`Creating posts: ${done} of ${rows} rows (${Math.floor((done / Math.max(1, rows)) * 100)} %)`)
    },
  })
  if (ended.state !== 'completed' || ended.counts.failed > 0) io.setExitCode(EXIT.incomplete)
  printResult(io, options, ended, formatImport)
  if (!options.json) await printFindings(io, client, id)
}

async function printFindings(io: Io, client: Client, id: string): Promise<void> {
  const rows: ImportRow[] = []
  for await (const row of client.imports.iterateRows(id, { status: [...FOUND] }, { signal: io.signal })) {
    if (rows.push(row) > ROWS_IN_PLAN) break
  }
  if (rows.length === 0) return
  io.print(`\n${formatRows(rows.slice(0, ROWS_IN_PLAN))}`)
  if (rows.length > ROWS_IN_PLAN) io.note(`More rows: postonce imports rows ${id}`)
}

function formatImport({ id, state, pausedBecause, rows, counts, posts, allowance }: Import): string {
  const found = Object.entries(counts).filter(([, count]) => count > 0)
  return formatFields({
    import: id,
    state: pausedBecause === null ? state : `${state}: ${pausedBecause}`,
    rows: `${rows} (${found.map(([status, count]) => `${count} ${status}`).join(', ')})`,
    posts: `${posts.scheduled} scheduled, ${posts.drafts} drafts, ${posts.immediate} immediately`,
    allowance: `${allowance.needed} needed, ${allowance.used} of ${allowance.limit} used`,
  })
}

function formatImports(listed: Import[]): string {
  if (listed.length === 0) return 'No imports.'
  return formatTable(listed, [
    { title: 'IMPORT', value: ({ id }) => id },
    { title: 'STATE', value: ({ state }) => state },
    { title: 'ROWS', value: ({ rows }) => rows },
    { title: 'CREATED', value: ({ counts }) => counts.created },
    { title: 'TIME', value: ({ createdAt }) => formatTime(createdAt) },
  ])
}

function formatRows(rows: ImportRow[]): string {
  if (rows.length === 0) return 'No row has errors, conflicts or warnings.'
  return formatTable(rows, [
    { title: 'ROW', value: ({ row }) => row },
    { title: 'STATUS', value: ({ status }) => status },
    {
      title: 'FINDINGS',
      value: ({ errors, conflicts, warnings }) =>
        [...errors, ...conflicts, ...warnings].map(({ message }) => message).join(' '),
    },
  ])
}
