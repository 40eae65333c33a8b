/**
 * `node scripts/run.mjs scripts/build-package.ts packages/<name>`: compiles a package to its `dist` folder, as npm does before it packs
 * the package. It first builds the packages of this repository that the package depends on, because their types are needed.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../', import.meta.url))
const COMPILER = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc')
const SCOPE = '@postonce/'

function build(folder: string): void {
  const { dependencies = {} } = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8')) as {
    dependencies?: Record<string, string>
  }
  for (const name of Object.keys(dependencies)) {
    if (name.startsWith(SCOPE)) build(join('packages', name.slice(SCOPE.length)))
  }
  // No file of an earlier build is packed.
  rmSync(join(ROOT, folder, 'dist'), { recursive: true, force: true })
  const { status } = spawnSync(process.execPath, [COMPILER, '-p', join(ROOT, folder, 'tsconfig.build.json')], {
    stdio: 'inherit',
  })
  if (status !== 0) process.exit(status ?? 1)
}

const [folder] = process.argv.slice(2)
if (folder === undefined || !/^packages\/[\w-]+\/?$/.test(relative(ROOT, join(ROOT, folder)))) {
  console.error('Usage: node scripts/run.mjs scripts/build-package.ts packages/<name>')
  process.exit(2)
}
build(folder)
