import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadBundle } from '../../src/worker/bundle.ts'

const SOURCES = {
  'src/workflows/index.ts': 'export * from "./one.ts"',
  'src/workflows/deep/one.ts': 'export const one = 1',
  'src/domain/shared/times.ts': 'export const SECOND = 1_000',
  'src/worker/bundle.ts': '',
  'node_modules/.package-lock.json': '{"packages": {}}',
}

let root: string
let builds: number

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'postonce-bundle-'))
  builds = 0
  for (const [file, text] of Object.entries(SOURCES)) write(file, text)
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

function write(file: string, text: string): void {
  mkdirSync(dirname(join(root, file)), { recursive: true })
  writeFileSync(join(root, file), text)
}

/** Returns the workflow code that a worker would run if it started now. */
async function startWorker(): Promise<string> {
  const bundle = await loadBundle(root, async () => ({ code: `build ${++builds}` }))
  return 'code' in bundle ? bundle.code : readFileSync(bundle.codePath, 'utf8')
}

describe('the workflow bundle', () => {
  it('the workflow bundle is built once and read from its file while the sources are unchanged', async () => {
    expect([await startWorker(), await startWorker(), await startWorker()]).toEqual(['build 1', 'build 1', 'build 1'])
  })

  it.each(Object.keys(SOURCES))('the workflow bundle is rebuilt after a change of %s', async (file) => {
    await startWorker()
    write(file, 'changed')
    expect([await startWorker(), await startWorker()]).toEqual(['build 2', 'build 2'])
    write(file, SOURCES[file as keyof typeof SOURCES])
    expect(await startWorker()).toBe('build 1')
  })

  it('the workflow bundle is rebuilt after a source file was added', async () => {
    await startWorker()
    write('src/workflows/two.ts', '')
    expect(await startWorker()).toBe('build 2')
  })

  it('the workflow bundle is built at each start when it cannot be stored or the packages are unknown', async () => {
    write('node_modules/.cache', 'not a folder')
    expect([await startWorker(), await startWorker()]).toEqual(['build 1', 'build 2'])
    rmSync(join(root, 'node_modules'), { recursive: true })
    expect([await startWorker(), await startWorker()]).toEqual(['build 3', 'build 4'])
  })
})
