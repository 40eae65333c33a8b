import type { Chart } from './chart.ts'
import type { Figure } from './figure.ts'
import { rounded } from './stats.ts'

/** A run, as stored in bench/results/. */
export interface Results {
  startedAt: string
  tookSeconds: number
  machine: { processor: string; cores: number; memoryGiB: number }
  versions: Record<string, string>
  figures: Figure[]
  charts: Chart[]
  /** The times of groups that were measured again after the run. */
  measuredLater?: Record<string, string>
}

/** Returns the figures as an aligned Markdown table. */
export function tableOf(figures: Figure[]): string {
  const rows = figures.map(({ group, name, ours, baseline, unit, ratio, aim, met }) => [
    group,
    name,
    `${rounded(ours)} ${unit}`,
    baseline === null ? '' : `${rounded(baseline)} ${unit}`,
    ratio === null ? '' : ratio.toFixed(2),
    aim === null ? '' : `${met === true ? '✓' : '✗'} ${aim}`,
  ])
  const head = ['', 'what', 'ours', 'baseline', 'ratio', 'target']
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)))
  const line = (cells: string[]) => `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`
  return [line(head), `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...rows.map(line)].join('\n')
}

/** Returns the details of each figure in one line. */
export function detailsOf(figures: Figure[]): string {
  return figures
    .map(({ group, name, details }) => {
      const facts = Object.entries(details).filter(([, value]) => value !== null)
      return `${group}, ${name}: ${facts.map(([key, value]) => `${key} ${value}`).join(', ')}`
    })
    .join('\n')
}
