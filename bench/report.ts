import type { Bound, Figure, Verdict } from './figure.ts'
import { rounded } from './stats.ts'

/** The last saved measurement of each group, as stored in bench/results/. */
export type Results = Record<string, GroupResults>

interface GroupResults {
  /** Date and time in UTC. */
  measuredAt: string
  /** The machine and the versions. */
  on: string
  figures: Figure[]
}

export const TABLE_HEAD = ['what; baseline', 'postonce', 'baseline', 'ratio', 'interval', 'bound']

const MARKS: Record<Verdict, string> = { met: '✓', missed: '✗', undecided: 'undecided:' }

/** Returns the cells of a figure in a table with this head. */
export function cellsOf({ name, unit, ours, baseline, ratio, interval, bound, verdict }: Figure): string[] {
  return [
    name,
    `${show(ours)} ${unit}`.trimEnd(),
    baseline === null ? '' : `${show(baseline)} ${unit}`,
    ratio === null ? '' : show(ratio),
    interval ? interval.map(show).join(' to ') : '',
    bound && verdict ? `${MARKS[verdict]} ${describeBound(bound)}` : '',
  ]
}

function describeBound(bound: Bound): string {
  const limit = 'atMost' in bound ? `at most ${show(bound.atMost)}` : `at least ${show(bound.atLeast)}`
  return bound.of === 'ours' ? limit : `${bound.of} ${limit}`
}

const show = (value: number): string => rounded(value).toLocaleString('en-US', { maximumSignificantDigits: 3 })

/** Returns an aligned Markdown table. */
export function toTable(head: string[], rows: string[][]): string {
  const widths = head.map((title, column) => Math.max(title.length, 3, ...rows.map((row) => row[column]?.length ?? 0)))
  const line = (cells: string[]) => `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n')
}
