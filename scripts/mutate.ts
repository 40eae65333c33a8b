/**
 * `npm run mutate [-- --count <mutants> --seed <number>] [folder or file of src ...]`: changes one operator, condition or constant
 * of the rules at a time and runs the unit tests that import the changed file. Reports every mutant that no test detects, and fails
 * below 95 % detected.
 *
 * Without `--count` it tries 100 random mutants of `src/domain` and `src/flow`; `--count all` tries every one. Mutants that no test can detect are
 * listed with their reasons in `tests/unit/domain/equivalent-mutants.json`.
 */
import { spawn } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import fc from 'fast-check'
import ts from 'typescript-5'
import { startVitest } from 'vitest/node'

interface Mutant {
  path: string
  start: number
  end: number
  code: string
  line: number
  /** The changed line, as reports and the list of equivalent mutants name it. */
  change: string
}

interface EquivalentMutant {
  path: string
  change: string
  reason: string
}

const ROOT = fileURLToPath(new URL('../', import.meta.url))
const EQUIVALENT = 'tests/unit/domain/equivalent-mutants.json'
const MIN_DETECTED = 0.95
const DEFAULT_COUNT = 100
const TIMEOUT_MS = 60_000
const TESTS = 'tests/unit/{domain,flow}/**/*.test.ts'

const OPERATORS: Record<string, string> = {
  ...{ '<': '<=', '<=': '<', '>': '>=', '>=': '>', '===': '!==', '!==': '===' },
  ...{ '&&': '||', '||': '&&', '+': '-', '-': '+', '*': '/', '/': '*' },
}

/** Returns all mutants of a file. */
function listMutants(path: string): Mutant[] {
  const source = readFileSync(join(ROOT, path), 'utf8')
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true)
  const mutants: Mutant[] = []
  const add = (node: ts.Node, code: string) => {
    const [start, end] = [node.getStart(file), node.end]
    const from = source.lastIndexOf('\n', start - 1) + 1
    const to = source.indexOf('\n', end)
    const line = source.slice(0, start).split('\n').length
    const change = `${source.slice(from, start)}⟦${source.slice(start, end)} → ${code}⟧${source.slice(end, to)}`.trim()
    mutants.push({ path, start, end, code, line, change: change.replace(/\s+/g, ' ') })
  }
  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return
    if (ts.isBinaryExpression(node)) {
      const code = OPERATORS[node.operatorToken.getText(file)]
      if (code !== undefined) add(node.operatorToken, code)
    }
    if (ts.isIfStatement(node)) for (const code of ['true', 'false']) add(node.expression, code)
    if (ts.isConditionalExpression(node)) for (const code of ['true', 'false']) add(node.condition, code)
    if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken) {
      add(node, node.operand.getText(file))
    }
    if (ts.isNumericLiteral(node)) add(node, String(Number(node.text.replaceAll('_', '')) + 1))
    if (node.kind === ts.SyntaxKind.TrueKeyword) add(node, 'false')
    if (node.kind === ts.SyntaxKind.FalseKeyword) add(node, 'true')
    ts.forEachChild(node, visit)
  }
  visit(file)
  return mutants
}

/** Picks `count` mutants; the same ones for the same seed. */
function pick(mutants: Mutant[], count: number, seed: number): Mutant[] {
  const length = Math.min(count, mutants.length)
  return fc.sample(fc.shuffledSubarray(mutants, { minLength: length, maxLength: length }), { seed, numRuns: 1 })[0]!
}

/** Returns true when a unit test fails with the mutant or runs for too long. */
function isDetected(mutant: Mutant): Promise<boolean> {
  const args = [fileURLToPath(import.meta.url), '--mutant', JSON.stringify(mutant)]
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { stdio: 'ignore', timeout: TIMEOUT_MS })
    child.once('error', reject)
    child.once('exit', (exitCode) => resolve(exitCode !== 0))
  })
}

/** Runs the unit tests that import the changed file, in a process of its own. The working tree stays as it is. */
async function runTests({ path, start, end, code }: Mutant): Promise<void> {
  const file = join(ROOT, path)
  const source = readFileSync(file, 'utf8')
  const changed = source.slice(0, start) + code + source.slice(end)
  await startVitest(
    [],
    // Unlike a process, a thread with an endless loop ends with this process.
    {
      config: false,
      root: ROOT,
      watch: false,
      include: [TESTS],
      related: [file],
      passWithNoTests: true,
      pool: 'threads',
      isolate: false,
      bail: 1,
    },
    {
      plugins: [
        {
          name: 'mutant',
          enforce: 'pre',
          transform: (_, id) => (id === file ? changed : undefined),
          // vitest's cache knows a file by its source on disk.
          configureVitest: ({ defineCacheKeyGenerator }) => defineCacheKeyGenerator(({ id }) => id !== file && null),
        },
      ],
    },
  )
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: { count: { type: 'string' }, seed: { type: 'string', default: '1' }, mutant: { type: 'string' } },
    allowPositionals: true,
  })
  if (values.mutant !== undefined) return runTests(JSON.parse(values.mutant) as Mutant)
  const folders = positionals.length > 0 ? positionals : ['src/domain', 'src/flow']
  const paths = folders.flatMap((path) => (path.endsWith('.ts') ? [path] : globSync(`${path}/**/*.ts`, { cwd: ROOT })))
  const equivalent = JSON.parse(readFileSync(join(ROOT, EQUIVALENT), 'utf8')) as EquivalentMutant[]
  const isEquivalent = (mutant: Mutant) =>
    equivalent.some(({ path, change }) => path === mutant.path && change === mutant.change)
  const all = paths
    .toSorted()
    .flatMap(listMutants)
    .filter((mutant) => !isEquivalent(mutant))
  const count = values.count === 'all' ? all.length : Number(values.count ?? DEFAULT_COUNT)
  const waiting = pick(all, count, Number(values.seed))
  const chosen = waiting.length
  const missed: Mutant[] = []
  if (await isDetected({ ...waiting[0]!, code: '', end: waiting[0]!.start }))
    throw new Error('The tests fail without any mutant.')
  const testWaiting = async () => {
    for (let mutant = waiting.shift(); mutant; mutant = waiting.shift()) {
      if (await isDetected(mutant)) continue
      missed.push(mutant)
      console.log(`${mutant.path}:${mutant.line}  ${mutant.change}`)
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, testWaiting))
  const share = (chosen - missed.length) / chosen
  console.log(
    `${chosen - missed.length} of ${chosen} mutants detected (${(100 * share).toFixed(1)} %), ${all.length} in total`,
  )
  process.exitCode = share < MIN_DETECTED ? 1 : 0
}

await main()
