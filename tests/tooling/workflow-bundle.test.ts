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

/** The code that a worker started now would run. */
async function start(): Promise<string> {
  const bundle = await loadBundle(root, async () => ({ code: `build ${++builds}` }))
  return 'code' in bundle ? bundle.code : readFileSync(bundle.codePath, 'utf8')
}

describe('the workflow bundle', () => {
  it('is built once, and a worker that starts again with the same sources takes it from its file', async () => {
    expect([await start(), await start(), await start()]).toEqual(['build 1', 'build 1', 'build 1'])
  })

  it.each(Object.keys(SOURCES))('is built anew when %s has changed', async (file) => {
    await start()
    write(file, 'changed')
    expect([await start(), await start()]).toEqual(['build 2', 'build 2'])
    write(file, SOURCES[file as keyof typeof SOURCES])
    expect(await start()).toBe('build 1')
  })

  it('is built anew when a source file was added', async () => {
    await start()
    write('src/workflows/two.ts', '')
    expect(await start()).toBe('build 2')
  })

  it('is built for each start where it cannot be stored, or where nothing says which packages there are', async () => {
    write('node_modules/.cache', 'not a folder')
    expect([await start(), await start()]).toEqual(['build 1', 'build 2'])
    rmSync(join(root, 'node_modules'), { recursive: true })
    expect([await start(), await start()]).toEqual(['build 3', 'build 4'])
  })
})
