import { writeFile } from 'node:fs/promises'
import { extname } from 'node:path'
import type { Import, ImportRow } from '@postonce/sdk'
import { Option } from 'commander'
import type { CommandSpec, Run } from '../command.ts'
import { CliError, EXIT } from '../exit-codes.ts'
import { openFile } from '../files.ts'
import { parseCount, take } from '../options.ts'
import { formatFields, formatTable } from '../output.ts'
import { formatTime } from '../times.ts'
import { FILTER_OPTIONS, toFilters, type FilterOptions } from './posts.ts'

interface PlanOptions extends ApplyOptions {
  gap?: number
  timezone: string
  dateOrder?: 'dmy' | 'mdy'
  apply?: boolean
}

interface ApplyOptions {
  skipErrors?: boolean
  skipConflicts?: boolean
}

interface ExportOptions extends FilterOptions {
  format?: 'json' | 'csv'
}

/** More rows with findings are left to `postonce imports rows`. */
const ROWS_IN_PLAN = 20
const FOUND = ['error', 'conflict', 'warning', 'failed'] as const

const APPLY_OPTIONS = [
  new Option('--skip-errors', 'leave out rows with errors; without it, nothing is created if a row has errors'),
  new Option('--skip-conflicts', 'leave out rows with conflicts'),
]

export const fileCommands: CommandSpec[] = [
  {
    usage: 'import <file>',
    summary: 'Import posts from a CSV or JSON file',
    description:
      'Uploads a file of posts and shows what creating them would do. With --apply it also creates them, and waits until that is done. ' +
      'The columns of a CSV file include text, platforms and scheduledAt.',
    options: [
      new Option('--apply', 'create the posts'),
      new Option('--gap <minutes>', 'least distance between posts of an account').argParser(parseCount),
      new Option('--timezone <zone>', 'time zone of rows without one').default(
        Intl.DateTimeFormat().resolvedOptions().timeZone,
      ),
      new Option(
        '--date-order <order>',
        'order of day and month in a CSV file, unless its dates begin with the year',
      ).choices(['dmy', 'mdy']),
      ...APPLY_OPTIONS,
    ],
    async run(run: Run<PlanOptions>, file) {
      const { io, options, print } = run
      const plan = await planFile(run, file)
      if (options.apply) return applyImport(run, plan.id)
      print(plan, formatImport)
      if (!options.json) await printFindings(run, plan.id)
      io.note(`To create the posts: postonce imports apply ${plan.id}`)
    },
  },
  {
    usage: 'export [file]',
    summary: 'Export posts in the form that an import accepts',
    description:
      'Writes posts to a .csv or .json file, or to standard output. Scheduled posts keep their times; all others become drafts.',
    options: [
      new Option('--format <format>', 'the default is that of the file, or json').choices(['json', 'csv']),
      ...FILTER_OPTIONS,
    ],
    async run({ io, client, call, print, options }: Run<ExportOptions>, path?: string) {
      const format = options.format ?? (path === undefined ? 'json' : toFormat(path))
      const file = await client.posts.export({ ...toFilters(options), format }, call)
      if (path === undefined) return io.print((await file.text()).trimEnd())
      await writeFile(path, file.stream()).catch(() => {
        throw new CliError(`${path} cannot be written.`, EXIT.usage)
      })
      print({ file: path, bytes: file.size }, formatFields)
    },
  },
]

export const importCommands: CommandSpec[] = [
  {
    usage: 'list',
    isDefault: true,
    summary: 'List imports, newest first',
    run: async ({ client, call, print }) => print(await client.imports.list(call), formatImports),
  },
  {
    usage: 'rows <import>',
    summary: 'List the rows of an import that have errors, conflicts or warnings, or failed',
    run: async (run, id) => run.print(await readFindings(run, id, Infinity), formatRows),
  },
  {
    usage: 'apply <import>',
    summary: 'Create the posts of an import, and wait until that is done; exit code 6 if some are not created',
    options: APPLY_OPTIONS,
    run: applyImport,
  },
  {
    usage: 'show <import>',
    summary: 'Show the state of an import',
    run: async ({ client, call, print }, id) => print(await client.imports.get(id, call), formatImport),
  },
  {
    usage: 'pause <import>',
    summary: 'Pause an import after the current rows',
    run: async ({ client, call, print }, id) => print(await client.imports.pause(id, call), formatImport),
  },
  {
    usage: 'resume <import>',
    summary: 'Continue a paused import',
    run: async ({ client, call, print }, id) => print(await client.imports.resume(id, call), formatImport),
  },
  {
    usage: 'cancel <import>',
    summary: 'End an import; the posts that it created stay',
    run: async ({ client, call, print }, id) => print(await client.imports.cancel(id, call), formatImport),
  },
]

/** @throws CliError for the name of a file of another type */
function toFormat(path: string): 'json' | 'csv' {
  const extension = extname(path).toLowerCase()
  if (extension === '.csv') return 'csv'
  if (extension === '.json') return 'json'
  throw new CliError(`${path} must end with .csv or .json.`, EXIT.usage)
}

async function planFile({ io, client, options }: Run<PlanOptions>, path: string): Promise<Import> {
  const { gap, timezone, dateOrder } = options
  const contentType = toFormat(path) === 'csv' ? 'text/csv' : 'application/json'
  const file = await openFile(path)
  io.progress(`Reading ${path}`)
  return client.imports.plan(file, { contentType, gapMinutes: gap, timezone, dateOrder, signal: io.signal })
}

async function applyImport(run: Run<ApplyOptions>, id: string): Promise<void> {
  const { io, client, call, options, print } = run
  const { skipErrors = false, skipConflicts = false } = options
  await client.imports.apply(id, { skipErrors, skipConflicts }, call)
  const ended = await client.imports.waitUntilApplied(id, {
    ...call,
    onProgress: ({ counts, rows }) => {
      const done = counts.created + counts.skipped + counts.failed
      io.progress(`Creating posts: ${done} of ${rows} rows (${Math.floor((done / Math.max(1, rows)) * 100)} %)`)
    },
  })
  if (ended.state !== 'completed' || ended.counts.failed > 0) io.setExitCode(EXIT.incomplete)
  print(ended, formatImport)
  if (!options.json) await printFindings(run, id)
}

async function printFindings(run: Run, id: string): Promise<void> {
  const rows = await readFindings(run, id, ROWS_IN_PLAN + 1)
  if (rows.length === 0) return
  run.io.print(`\n${formatRows(rows.slice(0, ROWS_IN_PLAN))}`)
  if (rows.length > ROWS_IN_PLAN) run.io.note(`More rows: postonce imports rows ${id}`)
}

const readFindings = ({ client, call }: Run, id: string, most: number) =>
  take(client.imports.iterateRows(id, { status: [...FOUND] }, call), most)

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
