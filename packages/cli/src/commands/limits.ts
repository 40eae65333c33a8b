import type { components } from '@postonce/sdk'
import { Option } from 'commander'
import type { CommandSpec, Run } from '../command.ts'
import { ACCOUNT } from '../options.ts'
import { formatTable } from '../output.ts'

type Schemas = components['schemas']
type Media = Schemas['PlatformLimits']['media']

const MEGABYTE = 1_000_000
const HOUR_SECONDS = 3_600

interface LimitsOptions {
  account?: string
}

export const limitsCommand: CommandSpec = {
  usage: 'limits',
  summary: 'Show what each platform accepts in a post',
  description:
    'Shows what each platform accepts in a post, and how many posts the default account has published there.',
  options: [new Option('--account <account>', `of this account instead; ${ACCOUNT}`)],
  run: async ({ client, call, print, options: { account } }: Run<LimitsOptions>) =>
    print(await client.accounts.limits(account === undefined ? {} : { account }, call), formatLimits),
}

function formatLimits(limits: Record<Schemas['Platform'], Schemas['PlatformLimits']>): string {
  return formatTable(Object.entries(limits), [
    { title: 'PLATFORM', value: ([platform]) => platform },
    { title: 'TEXT', value: ([, { text }]) => text.map(formatLength).join(', ') },
    { title: 'MEDIA', value: ([, { media }]) => `${media.required ? '1 to ' : ''}${media.max}` },
    { title: 'IMAGES', value: ([, { media }]) => formatKind(media.image) },
    { title: 'VIDEOS', value: ([, { media }]) => formatKind(media.video) },
    { title: 'THREADS', value: ([, { thread }]) => thread.segments },
    { title: 'COMMENTS', value: ([, { thread }]) => thread.firstComment },
    { title: 'TAKE BACK', value: ([, { removable }]) => (removable ? 'yes' : 'by hand') },
    { title: 'EDIT', value: ([, limits]) => formatEdits(limits) },
    { title: 'PUBLISHED', value: ([, { publications = [] }]) => publications.map(formatQuota).join(', ') },
  ])
}

/** Platforms count characters in different ways; `validate` shows the length that each counts. */
const formatLength = ({ max, unit }: Schemas['PlatformLimits']['text'][number]) =>
  `${max} ${unit === 'utf8Bytes' ? 'bytes' : 'characters'}`

const formatKind = ({ max, maxBytes }: Media['image']) => `${max} of ${Math.floor(maxBytes / MEGABYTE)} MB`

const formatEdits = ({ editable, notEditableWith = [] }: Schemas['PlatformLimits']) =>
  editable ? ['yes', ...notEditableWith.map((part) => `no ${part}`)].join(', ') : 'no'

const formatQuota = ({ used, limit, windowSeconds }: Schemas['PublicationQuota']) =>
  `${used} of ${limit} in ${windowSeconds / HOUR_SECONDS} h`
