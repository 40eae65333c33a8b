import type { Figure } from './figure.ts'
import type { Results } from './report.ts'
import { rounded } from './stats.ts'

/** The share of a day's posts in its busiest hour. */
const BUSY_HOUR_SHARE = 0.1
/** The share of its processors that a service may use, so that it absorbs a lost machine and short peaks. */
const UTILIZATION = 0.6
const POSTS_A_DAY = 1_000_000
const HOUR_SECONDS = 3_600
const GIB = 2 ** 30
const WRITES = ['update', 'insert', 'findAndModify', 'commitTransaction']

const PARTS = [
  ['API', 'starter'],
  ['worker', 'worker'],
  ['Temporal', 'temporal'],
  ['MongoDB', 'mongod'],
] as const

/** What one post costs, from the results of the benchmark. */
interface PostCosts {
  /** Milliseconds of processor time, by part. */
  cpu: Record<string, number>
  mongoWrites: number
}

/**
 * Computes what a number of posts needs, in Markdown. Every rate is that of the benchmark's posts: an immediate text to three platforms, and a
 * scheduled text to one.
 * @throws when the results lack a figure
 */
export function describeCapacity({ figures, machine }: Results): string {
  const find = (group: string, start: string): Figure => {
    const found = figures.find((figure) => figure.group === group && figure.name.startsWith(start))
    if (!found) throw new Error(`The results have no figure "${group}: ${start}"`)
    return found
  }
  const immediateRate = find('throughput', 'immediate posts')
  const burst = find('lateness', '2000 posts')
  const [immediate, scheduled] = [toCosts(immediateRate), toCosts(burst)]
  const [history, scheduledHistory] = [find('history', 'immediate post'), find('history', 'scheduled post')]
  const [historyBytes, storedBytes] = [
    readNumber(history, 'history bytes, median'),
    readNumber(history, 'MongoDB bytes'),
  ]

  const costs = [
    ...PARTS.map(([label, part]) => [
      `Processor time, ${label}`,
      show(immediate.cpu[part]!, 'ms'),
      show(scheduled.cpu[part]!, 'ms'),
    ]),
    ['Writes to MongoDB', show(immediate.mongoWrites), show(scheduled.mongoWrites)],
    ['History events, three platforms', show(history.ours), show(scheduledHistory.ours)],
    [
      'Bytes in Temporal, three platforms',
      show(historyBytes),
      show(readNumber(scheduledHistory, 'history bytes, median')),
    ],
    ['Bytes in MongoDB', show(storedBytes), ''],
  ]
  const rate = (POSTS_A_DAY * BUSY_HOUR_SHARE) / HOUR_SECONDS
  const day = [
    ['Posts per second in the busiest hour', show(rate)],
    ...PARTS.map(([label, part]) => [
      `Cores, ${label}`,
      showCount((rate * immediate.cpu[part]!) / 1_000 / UTILIZATION),
    ]),
    ['Writes to MongoDB per second', show(rate * immediate.mongoWrites)],
    ['MongoDB, GiB per year', show((POSTS_A_DAY * 365 * storedBytes) / GIB)],
    ['Temporal, GiB per day of retention', show((POSTS_A_DAY * historyBytes) / GIB)],
  ]
  const total = PARTS.reduce((sum, [, part]) => sum + immediate.cpu[part]!, 0)
  const predicted = rounded((machine.cores * 1_000) / total)
  const measured = rounded(immediateRate.ours)
  return [
    table(['One post costs', 'Immediate, three platforms', 'Scheduled, one platform'], costs),
    table([`${POSTS_A_DAY.toLocaleString('en-US')} posts a day`, ''], day),
    `**Check:** from these costs, the ${machine.cores} cores of the benchmark should publish ${show(predicted)} immediate posts per second; they published ${show(measured)} (${(measured / predicted).toFixed(2)}).`,
  ].join('\n\n')
}

function toCosts(figure: Figure): PostCosts {
  return {
    cpu: Object.fromEntries(PARTS.map(([, part]) => [part, readNumber(figure, `ours CPU ms a post, ${part}`)])),
    mongoWrites: WRITES.reduce((sum, command) => sum + readNumber(figure, `MongoDB ${command} a post`), 0),
  }
}

function readNumber({ group, name, details }: Figure, start: string): number {
  const [, value] = Object.entries(details).find(([key]) => key.startsWith(start)) ?? []
  if (typeof value !== 'number') throw new Error(`The figure "${group}: ${name}" does not report "${start}"`)
  return value
}

const show = (value: number, unit = ''): string => `${rounded(value).toLocaleString('en-US')}${unit && ` ${unit}`}`
const showCount = (value: number): string => (value < 1 ? 'below 1' : Math.ceil(rounded(value)).toLocaleString('en-US'))

function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}
