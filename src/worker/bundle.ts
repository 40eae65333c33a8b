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
 * Rules that workflows use. They keep no state, so one copy serves all workflows of a worker; otherwise every new workflow
 * would evaluate its own, which shows in the processor time of a post.
 */
const SHARED_MODULES = ['posts/publish-plan', 'shared/platforms', 'shared/times']

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const CACHE = 'node_modules/.cache/postonce'
/** Whatever can be part of the bundle or decides how it is made. npm writes the last file with each change of the packages. */
const SOURCES = ['src/workflows', 'src/domain', 'src/worker/bundle.ts', 'node_modules/.package-lock.json']
const MAX_AGE_MS = 7 * DAY

/** Bundles the workflows with all they import as one script. Takes about two seconds of processor time. */
export function bundleWorkflows(): Promise<WorkflowBundleWithSourceMap> {
  return bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('../workflows/index.ts', import.meta.url)),
    preloadModules: SHARED_MODULES.map((name) => fileURLToPath(new URL(`../domain/${name}.ts`, import.meta.url))),
    logger: new DefaultLogger('WARN'),
  })
}

/**
 * Returns the bundle of the workflows as they are now, from a file of an earlier start if nothing that it is made of has changed
 * since. The file's name is a hash of all that, so an old bundle is never taken for the current one.
 */
export async function loadBundle(
  root = ROOT,
  build: () => Promise<{ code: string }> = bundleWorkflows,
): Promise<WorkflowBundleOption> {
  const key = await hashSources(root).catch(() => null)
  // Packages that another tool installed leave no record of their versions.
  if (key === null) return build()
  const codePath = join(root, CACHE, `workflow-bundle-${key}.js`)
  if (await isFile(codePath)) return { codePath }
  const { code } = await build()
  try {
    await store(codePath, code)
  } catch {
    // A cache that cannot be written costs the next start some time, and nothing else.
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

/** Renamed into place, so that a process that dies meanwhile leaves no half a bundle. */
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
