/**
 * Writes the tables of docs/operations/capacity.md and the charts from bench/results/full.json, as `npm run bench` does after a full run;
 * with `--check` it only compares, and fails when they differ.
 *
 *   node scripts/run.mjs scripts/figures-table.ts [--check]
 */
import { readFile, writeFile } from 'node:fs/promises'
import { describeCapacity } from '../bench/capacity.ts'
import { drawChart } from '../bench/chart.ts'
import type { Figure } from '../bench/figure.ts'
import type { Results } from '../bench/report.ts'
import { rounded } from '../bench/stats.ts'
import { runSectionScript, updateSection } from './document-section.ts'

const FOLDER = new URL('../bench/results/', import.meta.url)
const PAGE = 'docs/operations/capacity.md'

/** The figures of the page: group, name, and the words of the page for what was measured and what it is compared with. */
const SHOWN: ShownFigure[] = [
  {
    group: 'throughput',
    name: 'immediate posts, three instant platforms, against remote activities',
    label: 'Immediate posts to three platforms; three activities that do nothing',
  },
  {
    group: 'routes',
    name: 'create post, against inserts and a workflow start',
    label: 'Creating posts; the same inserts and workflow starts alone',
  },
  {
    group: 'lateness',
    name: '25 lone posts to Bluesky, p95',
    label: 'Lateness of lone posts, p95; a workflow timer',
  },
  {
    group: 'lateness',
    name: '1000 posts at one instant, p95',
    label: 'Lateness of 1,000 posts at one instant, p95; workflow timers',
  },
  {
    group: 'peaks',
    name: '5000 posts of 20 users at one instant, platform latency 0 ms, p95',
    label: 'Lateness of 5,000 posts at one instant, p95; workflow timers',
  },
  {
    group: 'peaks',
    name: 'lone posts among 1000 posts of 20 users at one instant, platform latency 50 ms, p95 (baseline: without the others)',
    label: 'Lateness of single posts among 1,000 of other users, p95; without the others',
  },
  {
    group: 'fairness',
    name: 'single immediate posts of users on free beside 5000 posts of one user on pro, platform latency 50 ms, p95 (baseline: without them)',
    label: 'Lateness of single posts beside 5,000 of one user, p95; without them',
  },
  {
    group: 'recovery',
    name: '5000 scheduled posts under way again after Temporal lost its data',
    label: 'Restarting 5,000 posts after Temporal lost its data; bare starts',
  },
  {
    group: 'workers',
    name: 'metrics of 4000 posts, platform latency 100 ms, two workers against one',
    label: 'Metrics collected by two workers; by one',
  },
  {
    group: 'storage',
    name: 'analytics of a post on three platforms over 400 days, with indexes',
    label: 'Analytics of a post over 400 days; a snapshot per collection',
  },
]

interface ShownFigure {
  group: string
  name: string
  label: string
}

/**
 * Returns a table of the figures, with the machine and versions they were measured with. A ratio is that of the two numbers beside it. With
 * several rounds, the range of their ratios shows what noise hides.
 * @throws when the results lack a figure
 */
export function figuresSection(
  { startedAt, measuredLater, machine, versions, figures }: Results,
  shown = SHOWN,
): string {
  const rows = shown.map(({ group, name, label }) => {
    const figure = figures.find((candidate) => candidate.group === group && candidate.name === name)
    if (!figure) throw new Error(`The results have no figure "${group}: ${name}"`)
    const { ours, baseline, unit } = figure
    const amount = (value: number) => `${rounded(value).toLocaleString('en-US')} ${unit}`
    const cells = [label, amount(ours), baseline === null ? '' : amount(baseline), formatRatio(ours, baseline)]
    return `| ${[...cells, formatRange(figure)].join(' | ')} |`
  })
  const days = shown.map(({ group }) => toDay(measuredLater?.[group] ?? startedAt)).toSorted()
  const releases = Object.entries(versions).map(([name, version]) => `${name} ${version}`)
  return [
    ['| Measured; baseline | postonce | Baseline | Ratio | Ratio by round |', '|---|---|---|---|---|', ...rows].join(
      '\n',
    ),
    `Measured between ${days[0]} and ${days.at(-1)} on ${machine.cores} cores of ${machine.processor}, everything on one machine: ${releases.join(', ')}.`,
  ].join('\n\n')
}

function formatRatio(ours: number, baseline: number | null): string {
  return baseline === null ? '' : (rounded(ours) / rounded(baseline)).toFixed(2)
}

/** Returns the lowest and the highest ratio of the rounds, or nothing for a single measurement. */
function formatRange({ details }: Figure): string {
  const [ours, baseline] = ['ours', 'baseline'].map((side) => readRounds(details[`rounds, ${side}`]))
  const ratios = ours!.map((value, round) => value / baseline![round]!)
  return ratios.length < 2 ? '' : `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`
}

const readRounds = (rounds: Figure['details'][string] = null): number[] =>
  typeof rounds === 'string' ? rounds.split(' ').map(Number) : []

const toDay = (instant: string): string => instant.slice(0, 10)

/** Updates the page and the charts from the results. @throws with `check`, when they are out of date; nothing is written then */
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
  await updateSection({ page: PAGE, name: 'capacity', content: describeCapacity(results) }, { check })
}

await runSectionScript(import.meta.url, updateFigures)
