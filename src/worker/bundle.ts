import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  bundleWorkflowCode,
  DefaultLogger,
  type WorkflowBundleOption,
  type WorkflowBundleWithSourceMap,
} from '@temporalio/worker'
import { DAY } from '../domain/shared/times.ts'

/**
 * Stateless modules that all workflows of a worker share. Otherwise every new workflow evaluates its own copy, which costs CPU time for
 * each post.
 */
const SHARED_MODULES = ['posts/publish-plan', 'shared/platforms', 'shared/times']

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const CACHE = 'node_modules/.cache/postonce'
/** The inputs of the bundle. npm writes the last file whenever the packages change. */
const SOURCES = ['src/workflows', 'src/domain', 'src/worker/bundle.ts', 'node_modules/.package-lock.json']
const MAX_AGE_MS = 7 * DAY

/** Bundles the workflows and their imports as one script. It takes about two seconds of CPU time. */
export function bundleWorkflows(): Promise<WorkflowBundleWithSourceMap> {
  return bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('../workflows/index.ts', import.meta.url)),
    preloadModules: SHARED_MODULES.map((name) => fileURLToPath(new URL(`../domain/${name}.ts`, import.meta.url))),
    logger: new DefaultLogger('WARN'),
  })
}

/**
 * Returns the bundle of the current workflows. It uses the cached file of an earlier start when no input has changed. The file name is a
 * hash of the inputs, so an old bundle is never used.
 */
export async function loadBundle(
  root = ROOT,
  build: () => Promise<{ code: string }> = bundleWorkflows,
): Promise<WorkflowBundleOption> {
  const key = await hashSources(root).catch(() => null)
  // Other package managers write no record of the versions.
  if (key === null) return build()
  const codePath = join(root, CACHE, `workflow-bundle-${key}.js`)
  if (await isFile(codePath)) return { codePath }
  const { code } = await build()
  try {
    await store(codePath, code)
  } catch {
    // Without the cache the next start takes longer.
  }
  return { code }
}

async function hashSources(root: string): Promise<string> {
  const hash = createHash('sha256')
  for (const source of SOURCES) {
    for (const file of await listFiles(join(root, source))) {
      hash
        .update(`${file.slice(root.length)}\0`)
        .update(await readFile(file))
        .update('\0')
    }
  }
  return hash.digest('hex').slice(0, 32)
}

async function listFiles(path: string): Promise<string[]> {
  if ((await stat(path)).isFile()) return [path]
  const names = await readdir(path, { recursive: true })
  return names
    .filter((name) => name.endsWith('.ts'))
    .toSorted()
    .map((name) => join(path, name))
}

/** Renames the file into place, so that a process that dies meanwhile leaves no partial bundle. */
async function store(codePath: string, code: string): Promise<void> {
  const folder = dirname(codePath)
  await mkdir(folder, { recursive: true })
  const unfinished = join(folder, `${randomUUID()}.tmp`)
  await writeFile(unfinished, code)
  await rename(unfinished, codePath)
  for (const name of await readdir(folder)) {
    const file = join(folder, name)
    if (Date.now() - (await stat(file)).mtimeMs > MAX_AGE_MS) await rm(file, { force: true })
  }
}

const isFile = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isFile(),
    () => false,
  )
