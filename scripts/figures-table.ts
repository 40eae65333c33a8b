/**
 * Writes the table of docs/operations/benchmarks.md, the charts and the tables of docs/operations/capacity.md from bench/results/full.json, as
 * `npm run bench` does after a full run; with `--check` it only compares, and fails when they differ.
 *
 *   node scripts/run.mjs scripts/figures-table.ts [--check]
 */
import { readFile, writeFile } from 'node:fs/promises'
import { describeCapacity } from '../bench/capacity.ts'
import { drawChart } from '../bench/chart.ts'
import type { Results } from '../bench/report.ts'
import { rounded } from '../bench/stats.ts'
import { runSectionScript, updateSection } from './document-section.ts'

const FOLDER = new URL('../bench/results/', import.meta.url)
const CAPACITY_PAGE = 'docs/operations/capacity.md'
const PAGE = 'docs/operations/benchmarks.md'
/** Relative path from the page to the charts. */
const CHARTS = '../../bench/results'

/** Returns the results in Markdown: a table of ratios, the charts, and the machine and versions they were measured with. */
export function figuresSection({ startedAt, measuredLater, machine, versions, figures, charts }: Results): string {
  const rows = figures.map(({ group, name, ours, baseline, unit, ratio, aim, met }) => {
    const amount = (value: number) => `${rounded(value).toLocaleString('en-US')} ${unit}`
    const verdict = aim === null ? '' : `${met === true ? '✓' : '✗'} ${aim}`
    const cells = [
      `${group}: ${name}`,
      amount(ours),
      baseline === null ? '' : amount(baseline),
      ratio?.toFixed(2) ?? '',
    ]
    return `| ${[...cells, verdict].join(' | ')} |`
  })
  const images = charts.map(({ id, title }) => `![${title}](${CHARTS}/${id}.svg)`)
  const later = Object.entries(measuredLater ?? {}).filter(([, at]) => toDay(at) !== toDay(startedAt))
  const laterDays = later.map(([group, at]) => `, ${group} ${toDay(at)}`).join('')
  const releases = Object.entries(versions).map(([name, version]) => `${name} ${version}`)
  return [
    ['| Measurement | postonce | Baseline | Ratio | Target |', '|---|---|---|---|---|', ...rows].join('\n'),
    ...(images.length > 0 ? [images.join('\n')] : []),
    `Measured ${toDay(startedAt)}${laterDays} on ${machine.cores} cores of ${machine.processor}, everything on one machine: ${releases.join(', ')}.`,
  ].join('\n\n')
}

const toDay = (instant: string): string => instant.slice(0, 10)

/** Updates the pages and the charts from the results. @throws with `check`, when they are out of date; nothing is written then */
export async function updateFigures(check: boolean): Promise<void> {
  const results = JSON.parse(await readFile(new URL('full.json', FOLDER), 'utf8')) as Results
  for (const chart of results.charts) {
    const file = new URL(`${chart.id}.svg`, FOLDER)
    const current = await readFile(file, 'utf8').catch(() => '')
    const wanted = drawChart(chart)
    if (current === wanted) continue
    if (check) throw new Error(`bench/results/${chart.id}.svg is out of date`)
    await writeFile(file, wanted)
  }
  await updateSection({ page: PAGE, name: 'figures', content: figuresSection(results) }, { check })
  await updateSection({ page: CAPACITY_PAGE, name: 'capacity', content: describeCapacity(results) }, { check })
}

await runSectionScript(import.meta.url, updateFigures)
