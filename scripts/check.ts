/**
 * `npm run check`: checks everything that needs no running service. It prints one line per check, then the whole
 * output of the failed checks. With names it runs only these: `npm run check -- lint types`.
 */
import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../', import.meta.url))
const RUNNER = fileURLToPath(new URL('run.mjs', import.meta.url))

interface Check {
  name: string
  /** A tool or a script, and its arguments. */
  args: string[]
  /** Command that fixes the failure, if there is one. */
  fix?: string
}

interface Result {
  check: Check
  failed: boolean
  seconds: number
  output: string
}

/** The slow checks come first, which shortens the whole run. */
function checks(): Check[] {
  return [
    { name: 'lint', args: ['oxlint'] },
    { name: 'unused', args: ['knip', '--no-progress', '--no-config-hints'] },
    { name: 'format', args: ['prettier', '--check', '--log-level=warn', '.'], fix: 'npm run format' },
    { name: 'types', args: ['tsc', '--noEmit'] },
    { name: 'console', args: ['tsc', '--noEmit', '--project', 'packages/console'] },
    { name: 'openapi', args: ['scripts/openapi.ts', '--check'], fix: 'npm run openapi' },
    { name: 'sdk', args: ['scripts/sdk.ts', '--check'], fix: 'npm run sdk' },
    { name: 'api-docs', args: ['scripts/openapi-lint.ts'] },
    { name: 'words', args: ['scripts/words.ts'] },
    {
      name: 'config',
      args: ['scripts/config-table.ts', '--check'],
      fix: 'node scripts/run.mjs scripts/config-table.ts',
    },
    {
      name: 'figures',
      args: ['scripts/figures-table.ts', '--check'],
      fix: 'node scripts/run.mjs scripts/figures-table.ts',
    },
    { name: 'links', args: ['scripts/links.ts'] },
  ]
}

async function run(check: Check): Promise<Result> {
  const startedAt = performance.now()
  const child = spawn(process.execPath, [RUNNER, ...check.args], { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] })
  const exitCode = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), exitCode])
  const seconds = (performance.now() - startedAt) / 1_000
  return { check, failed: code !== 0, seconds, output: `${stdout}${stderr}`.trim() }
}

/** Runs as many checks concurrently as there are cores, and prints each result as it ends. */
async function runAll(selected: Check[]): Promise<Result[]> {
  const waiting = [...selected]
  const results: Result[] = []
  const runWaiting = async () => {
    for (let check = waiting.shift(); check !== undefined; check = waiting.shift()) {
      const result = await run(check)
      results.push(result)
      console.log(`${result.failed ? '✗' : '✓'} ${check.name.padEnd(8)} ${result.seconds.toFixed(1).padStart(5)} s`)
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, runWaiting))
  return results
}

const names = process.argv.slice(2)
const unknown = names.filter((name) => !checks().some((check) => check.name === name))
if (unknown.length > 0) {
  console.error(
    `No such check: ${unknown.join(', ')}. Known checks: ${checks()
      .map(({ name }) => name)
      .join(', ')}`,
  )
  process.exit(2)
}
const failures = (await runAll(checks().filter(({ name }) => names.length === 0 || names.includes(name)))).filter(
  ({ failed }) => failed,
)
for (const { check, output } of failures) {
  console.log(`\n── ${check.name}${check.fix ? ` (${check.fix})` : ''}\n${output}`)
}
process.exitCode = failures.length > 0 ? 1 : 0
