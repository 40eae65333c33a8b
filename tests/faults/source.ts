import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PROJECT_ROOT } from '../../sandbox/options.ts'

/** One place of the source, found by its text, which must stand there exactly once. */
export interface Replacement {
  /** Below `src`. */
  file: string
  find: string
  put: string
}

/**
 * A copy of the service's source that can be run, with these places replaced.
 * @throws a sentence that names the place when its text is not there exactly once
 */
export function copySource(root: string, replacements: Replacement[]): string {
  mkdirSync(root, { recursive: true })
  cpSync(join(PROJECT_ROOT, 'src'), join(root, 'src'), { recursive: true })
  cpSync(join(PROJECT_ROOT, 'package.json'), join(root, 'package.json'))
  symlinkSync(join(PROJECT_ROOT, 'node_modules'), join(root, 'node_modules'))
  for (const { file, find, put } of replacements) {
    const path = join(root, 'src', file)
    const source = readFileSync(path, 'utf8')
    const found = source.split(find).length - 1
    if (found !== 1) throw new Error(`src/${file} has ${found} times what should be there once: ${find}`)
    writeFileSync(
      path,
      source.replace(find, () => put),
    )
  }
  return root
}
