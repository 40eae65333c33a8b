/**
 * `npm run mutate [-- --count <mutants> --seed <number>] [folder or file of src ...]`: changes one operator, condition or constant
 * of the rules at a time and runs the unit tests that import the changed file. Reports every mutant that no test detects, and fails
 * below 95 % detected.
 *
 * Without `--count` it tries 100 random mutants of `src/domain`; `--count all` tries every one. Mutants that no test can detect are
 * listed with their reasons in `tests/unit/domain/equivalent-mutants.json`.
 */
import { spawn } from 'node:child_process'
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import ts from 'typescript-5'

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
const TESTS = 'tests/unit/domain'
const COPIED = [
  'src',
  TESTS,
  'tests/support',
  'sandbox',
  'scripts',
  'package.json',
  'vitest.config.ts',
  'tsconfig.json',
]

const OPERATORS: Partial<Record<ts.SyntaxKind, string>> = {
  [ts.SyntaxKind.LessThanToken]: '<=',
  [ts.SyntaxKind.LessThanEqualsToken]: '<',
  [ts.SyntaxKind.GreaterThanToken]: '>=',
  [ts.SyntaxKind.GreaterThanEqualsToken]: '>',
  [ts.SyntaxKind.EqualsEqualsEqualsToken]: '!==',
  [ts.SyntaxKind.ExclamationEqualsEqualsToken]: '===',
  [ts.SyntaxKind.AmpersandAmpersandToken]: '||',
  [ts.SyntaxKind.BarBarToken]: '&&',
  [ts.SyntaxKind.PlusToken]: '-',
  [ts.SyntaxKind.MinusToken]: '+',
  [ts.SyntaxKind.AsteriskToken]: '/',
  [ts.SyntaxKind.SlashToken]: '*',
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
      const code = OPERATORS[node.operatorToken.kind]
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

/** Picks `count` items with a generator that returns the same ones for the same seed (mulberry32). */
function pick<T>(items: T[], count: number, seed: number): T[] {
  let state = seed
  const random = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const left = [...items]
  return Array.from(
    { length: Math.min(count, items.length) },
    () => left.splice(Math.floor(random() * left.length), 1)[0]!,
  )
}

/** Copies what the unit tests need, so that mutants never touch the working tree. */
function copyProject(): string {
  const folder = mkdtempSync(join(tmpdir(), 'postonce-mutants-'))
  for (const path of COPIED) cpSync(join(ROOT, path), join(folder, path), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  return folder
}

/** Returns true when a unit test fails with the mutant or runs for too long. */
async function isDetected(folder: string, { path, start, end, code }: Mutant): Promise<boolean> {
  const source = readFileSync(join(ROOT, path), 'utf8')
  writeFileSync(join(folder, path), source.slice(0, start) + code + source.slice(end))
  try {
    return (await runTests(folder, path)) !== 0
  } finally {
    writeFileSync(join(folder, path), source)
  }
}

/** @returns the exit code; null when the tests ran for too long */
function runTests(folder: string, path: string): Promise<number | null> {
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs')
  const args = ['related', path, '--run', '--project', 'unit', '--bail', '1', '--passWithNoTests']
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [vitest, ...args], { cwd: folder, stdio: 'ignore', timeout: TIMEOUT_MS })
    child.once('error', reject)
    child.once('exit', (exitCode) => resolve(exitCode))
  })
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: { count: { type: 'string' }, seed: { type: 'string', default: '1' } },
    allowPositionals: true,
  })
  const folders = positionals.length > 0 ? positionals : ['src/domain']
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
  const lane = async () => {
    const folder = copyProject()
    try {
      if ((await runTests(folder, 'src/domain/shared/times.ts')) !== 0)
        throw new Error('The tests fail without any mutant.')
      for (let mutant = waiting.shift(); mutant; mutant = waiting.shift()) {
        if (await isDetected(folder, mutant)) continue
        missed.push(mutant)
        console.log(`${mutant.path}:${mutant.line}  ${mutant.change}`)
      }
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), chosen) }, lane))
  const share = (chosen - missed.length) / chosen
  console.log(
    `${chosen - missed.length} of ${chosen} mutants detected (${(100 * share).toFixed(1)} %), ${all.length} in total`,
  )
  process.exitCode = share < MIN_DETECTED ? 1 : 0
}

await main()
