import { cpSync, globSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript-5'
import { PROJECT_ROOT } from '../../sandbox/options.ts'

/** A change of the statement, property or argument that follows `// guard: <anchor>` in `src`. */
export interface Replacement {
  anchor: string
  /** Returns the new code for the marked one. Returning the same code is an error. */
  change: (code: string) => string
}

/** Removes the marked statement. */
export const remove = (): string => ''

/** Adds a condition that never holds to the marked `if`. */
export const never = (code: string): string => code.replace(/^if \((.*)\)(?= (?:\{|return|throw))/, 'if ($1 && false)')

/**
 * Copies the service's source so that it can run, and applies the replacements.
 * @throws Error that names the anchor when it is missing, not unique or without effect
 */
export function copySource(root: string, replacements: Replacement[]): string {
  mkdirSync(root, { recursive: true })
  cpSync(join(PROJECT_ROOT, 'src'), join(root, 'src'), { recursive: true })
  cpSync(join(PROJECT_ROOT, 'package.json'), join(root, 'package.json'))
  symlinkSync(join(PROJECT_ROOT, 'node_modules'), join(root, 'node_modules'))
  const paths = globSync('src/**/*.ts', { cwd: root }).map((path) => join(root, path))
  for (const replacement of replacements) replaceAnchored(paths, replacement)
  return root
}

function replaceAnchored(paths: string[], { anchor, change }: Replacement): void {
  const found = paths.flatMap((path) => {
    const source = readFileSync(path, 'utf8')
    const comments = source.matchAll(/^ *\/\/ guard: (.+)$/gm)
    return [...comments]
      .filter(([, name]) => name === anchor)
      .map(({ 0: { length }, index }) => ({ path, source, end: index + length }))
  })
  if (found.length !== 1) throw new Error(`src marks "${anchor}" ${found.length} times; exactly one mark is needed`)
  const { path, source, end } = found[0]!
  const marked = findMarked(source, end)
  if (marked === null) throw new Error(`The mark "${anchor}" in ${path} is followed by no code`)
  const code = source.slice(marked.start, marked.end)
  const changed = change(code)
  if (changed === code) throw new Error(`The change of "${anchor}" in ${path} has no effect on: ${code}`)
  writeFileSync(path, source.slice(0, marked.start) + changed + source.slice(marked.end))
}

/** Returns the largest piece of syntax that starts right after a position; null at the end of a block. */
function findMarked(source: string, position: number): { start: number; end: number } | null {
  const file = ts.createSourceFile('source.ts', source, ts.ScriptTarget.Latest, true)
  let marked: ts.Node | null = null
  const visit = (node: ts.Node): void => {
    if (marked) return
    if (node.getFullStart() <= position && node.getStart(file) > position) marked = node
    else if (node.end > position) ts.forEachChild(node, visit)
  }
  ts.forEachChild(file, visit)
  return marked && { start: (marked as ts.Node).getStart(file), end: (marked as ts.Node).end }
}
