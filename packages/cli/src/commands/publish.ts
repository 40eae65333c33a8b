import type { components } from '@postonce/sdk'
import { Option } from 'commander'
import type { CommandSpec, Run } from '../command.ts'
import { atOption, CONTENT_OPTIONS, holdOption, readParts, type ContentOptions } from '../content.ts'
import { CliError, EXIT } from '../exit-codes.ts'
import { formatFields, formatTable } from '../output.ts'
import { formatDeliveries, printCreated } from './posts.ts'

type Schemas = components['schemas']

interface PublishOptions extends ContentOptions {
  draft?: boolean
  wait?: boolean
  idempotencyKey?: string
}

const CREATE_OPTIONS = [
  ...CONTENT_OPTIONS,
  new Option('--wait', 'wait until the post is published; exit code 6 if it is not on every account'),
  new Option('--idempotency-key <key>', 'repeat a command with the same key to create the post once'),
]
const WITHOUT_TEXT = 'Without a text, it reads standard input.'

export const publishCommands: CommandSpec[] = [
  {
    usage: 'post [text]',
    summary: 'Publish a post now',
    description: `Publishes a post now, or saves it as a draft. ${WITHOUT_TEXT}`,
    options: [...CREATE_OPTIONS, holdOption(), new Option('--draft', 'save the post without publishing it')],
    run: publish,
  },
  {
    usage: 'schedule [text]',
    summary: 'Schedule a post',
    description:
      'Schedules a post. A time is 2027-05-01T09:30 in the time zone of this machine, 2027-05-01T09:30:00Z, or +30m, +2h, ' +
      `+1d. ${WITHOUT_TEXT}`,
    options: [atOption().makeOptionMandatory(), ...CREATE_OPTIONS],
    run: publish,
  },
  {
    usage: 'validate [text]',
    summary: 'Check a post without creating it',
    description: `Checks a post without creating it; exit code 4 if it would be refused. ${WITHOUT_TEXT}`,
    options: [...CONTENT_OPTIONS, atOption(), holdOption()],
    async run(run: Run<ContentOptions>, text) {
      const report = await run.client.posts.validate(await readPost(run, text), run.call)
      if (!report.valid) run.io.setExitCode(EXIT.refused)
      run.print(report, formatReport)
    },
  },
  {
    usage: 'edit <post> [text]',
    summary: 'Change a post that was not sent yet',
    description:
      'Changes what is given of a post that was not sent yet. --media replaces all media; --to, --account and --group together ' +
      'replace all platforms, accounts and groups. --segment replaces the thread; an empty one, or an empty --first-comment, ' +
      'removes it. --options replaces the options of all platforms; {} removes them.',
    options: [...CONTENT_OPTIONS, atOption(), holdOption()],
    async run(run: Run<ContentOptions>, postId, text?: string) {
      const { client, call, options } = run
      const stored = options.textFor ? await client.posts.get(postId, call) : undefined
      const parts = await readParts(run, text, stored)
      if (Object.keys(parts).length === 0) throw new CliError('Name what to change: a text or an option.', EXIT.usage)
      printCreated(run, await client.posts.update(postId, parts, { ...call, ifMatch: stored?.etag }))
    },
  },
]

async function publish(run: Run<PublishOptions>, argument?: string): Promise<void> {
  const { io, call, options } = run
  const post = await readPost(run, argument)
  const created = await run.client.posts.create(
    { ...post, ...(options.draft ? { status: 'DRAFT' } : {}) },
    { ...call, idempotencyKey: options.idempotencyKey },
  )
  if (!options.wait || options.draft) return printCreated(run, created)
  const { postId, warnings } = created
  for (const { message } of warnings) io.note(`Warning: ${message}`)
  const outcome = await run.client.posts.waitUntilPublished(postId, {
    ...call,
    onProgress: ({ status, progress }) =>
      io.progress(`${postId} is ${status}: ${progress.completed} of ${progress.total} published`),
  })
  if (outcome.status !== 'COMPLETED') io.setExitCode(EXIT.incomplete)
  run.print(outcome, ({ status, platformStatuses }) =>
    [formatFields({ post: postId, status }), '', formatDeliveries(platformStatuses)].join('\n'),
  )
}

/** Reads a new post. */
async function readPost(run: Run<ContentOptions>, argument = '-'): Promise<Schemas['CreatePost']> {
  const { to, account, group } = run.options
  if (!to && !account && !group) {
    const message = 'Name where to publish: --to <platforms>, --account <account> or --group <group>'
    throw new CliError(message, EXIT.usage)
  }
  const { content, ...parts } = await readParts(run, argument)
  return { ...parts, content: { text: '', ...content } }
}

/** Returns the report of a platform or account, and those of its further parts. */
function listParts([name, report]: [string, Schemas['PlatformReport']]): [string, Schemas['PartReport']][] {
  const further = (report.parts ?? []).map((part, index): [string, Schemas['PartReport']] => [
    `${name} ${index + 2}`,
    part,
  ])
  return [[name, report], ...further]
}

function formatReport({ valid, platforms, accounts, errors, warnings }: Schemas['ValidationReport']): string {
  const problems = [
    ...errors.map((problem) => ({ ...problem, kind: 'error' })),
    ...warnings.map((problem) => ({ ...problem, kind: 'warning' })),
  ]
  return [
    formatFields({ valid: valid ? 'yes' : 'no' }),
    formatTable(Object.entries({ ...platforms, ...accounts }).flatMap(listParts), [
      { title: 'FOR', value: ([name]) => name },
      { title: 'LENGTH', value: ([, { length }]) => length },
      { title: 'LIMIT', value: ([, { limit }]) => limit },
      { title: 'MEDIA', value: ([, { media }]) => media },
    ]),
    ...problems.map(({ kind, path, message }) => `${kind}  ${path}: ${message}`),
  ].join('\n')
}
