/**
 * Writes the table of docs/operations/capacity.md from bench/results/figures.json, as `npm run bench -- --save` does; with `--check` it only
 * compares, and fails when they differ.
 *
 *   node scripts/run.mjs scripts/figures-table.ts [--check]
 */
import { readFile, writeFile } from 'node:fs/promises'
import { cellsOf, TABLE_HEAD, toTable, type Results } from '../bench/report.ts'
import { runSectionScript, updateSection } from './document-section.ts'

const RESULTS = new URL('../bench/results/figures.json', import.meta.url)
const PAGE = 'docs/operations/capacity.md'

/** The figures of the page, by group and the start of their name. */
const SHOWN: [group: string, start: string][] = [
  ['throughput', 'immediate posts to three platforms, 50 in flight; remote activities'],
  ['routes', 'create a post; inserts in a transaction and a workflow start'],
  ['routes', 'create a post without Temporal; inserts in a transaction'],
  ['bursts', 'lateness of posts due one by one'],
  ['bursts', 'lateness of 1000 posts at one instant'],
  ['bursts', 'lateness of 2000 posts at one instant'],
  ['fairness', 'lateness of single immediate posts'],
  ['collection', 'metrics of 4000 posts'],
  ['storage', 'analytics of a post'],
  ['footprint', 'worker, memory when idle'],
  ['throughput', 'CPU of API a post, 50 in flight'],
  ['throughput', 'CPU of worker a post, 50 in flight'],
  ['throughput', 'CPU of Temporal a post, 50 in flight'],
  ['throughput', 'CPU of MongoDB a post, 50 in flight'],
  ['capacity', 'bytes in Temporal, immediate post'],
  ['capacity', 'bytes in MongoDB, without indexes, immediate post'],
]

/**
 * Returns a table of the figures with the machine and versions they were measured with. It names the shown figures that the results lack:
 * they have to be measured again.
 */
export function figuresSection(results: Results, shown = SHOWN): string {
  const found = shown.map(([group, start]) => results[group]?.figures.find(({ name }) => name.startsWith(start)))
  const missing = shown.filter((_, index) => !found[index]).map(([, start]) => start)
  const groups = [...new Set(shown.map(([group]) => group))].filter((group) => results[group])
  const machines = Map.groupBy(groups, (group) => results[group]!.on)
  const measured = [...machines].map(
    ([on, names]) =>
      `Measured on ${on} (${names.map((name) => `${name} ${results[name]!.measuredAt.slice(0, 10)}`).join(', ')}).`,
  )
  return [
    toTable(
      TABLE_HEAD,
      found.filter((figure) => figure !== undefined).map((figure) => cellsOf(figure)),
    ),
    ...measured,
    ...(missing.length > 0 ? [`Not measured since the last change: ${missing.join('; ')}.`] : []),
  ].join('\n\n')
}

const readResults = async () => JSON.parse(await readFile(RESULTS, 'utf8')) as Results

/** Replaces the groups of the stored results that were measured again, and updates the page. */
export async function saveResults(measured: Results): Promise<void> {
  const all = { ...(await readResults()), ...measured }
  await writeFile(RESULTS, `${JSON.stringify(all, null, 2)}\n`)
  await updateFigures(false)
}

/** Updates the page from the results. @throws with `check`, when it is out of date; nothing is written then */
async function updateFigures(check: boolean): Promise<void> {
  await updateSection({ page: PAGE, name: 'figures', content: figuresSection(await readResults()) }, { check })
}

await runSectionScript(import.meta.url, updateFigures)
