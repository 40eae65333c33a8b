import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, lutimesSync, readdirSync, readlinkSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { assertVersion, findOrFetch, type Source } from '../../../sandbox/servers/find-or-fetch.ts'
import { isAlive, run, withLock } from '../../../scripts/provision.mjs'
import { temporaryFolder } from '../../support/temporary-folder.ts'

let home: string

beforeEach(() => {
  home = temporaryFolder()
  vi.stubEnv('POSTONCE_CACHE', join(home, 'cache'))
  vi.spyOn(process.stderr, 'write').mockReturnValue(true)
})

afterEach(() => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
})

/** A real program that reports a version. */
function writeProgram(folder: string, version: string): string {
  const path = join(folder, 'gadget')
  writeFileSync(path, `#!/bin/sh\necho "gadget ${version}"\n`)
  chmodSync(path, 0o755)
  return path
}

function wanted(...sources: Source[]) {
  return {
    title: 'The gadget',
    program: 'gadget',
    version: '2.1.0',
    variable: 'POSTONCE_GADGET',
    probe: (path: string) => assertVersion(path, /gadget (\d+)\.(\d+)/, [2, 1]),
    sources,
    advice: 'install a gadget.',
  }
}

const gives = (version: string) =>
  ({
    title: 'a generous source',
    fetch: vi.fn<Source['fetch']>(async (folder) => void writeProgram(folder, version)),
  }) as const
const refuses: Source = { title: 'a closed source', fetch: () => Promise.reject(new Error('closed on Sundays')) }

describe('a server program', () => {
  test('a server program is the one that the variable names', async () => {
    const path = writeProgram(home, '2.1.0')
    vi.stubEnv('POSTONCE_GADGET', path)
    expect(await findOrFetch(wanted(refuses))).toBe(path)
  })

  test('a server program is not searched elsewhere when the variable names an unusable one', async () => {
    vi.stubEnv('POSTONCE_GADGET', writeProgram(home, '1.9.0'))
    await expect(findOrFetch(wanted(gives('2.1.0')))).rejects.toThrow(
      /POSTONCE_GADGET names .*gadget, which cannot be used: is version 1\.9, but at least 2\.1 is needed/,
    )
  })

  test('a server program is taken from PATH when its version is new enough', async () => {
    const path = writeProgram(home, '2.4.0')
    vi.stubEnv('PATH', `${home}:${process.env['PATH']}`)
    expect(await findOrFetch(wanted(refuses))).toBe(path)
  })

  test('a server program is fetched once, from the first source that has it, when the one on PATH is too old', async () => {
    writeProgram(home, '2.0.9')
    vi.stubEnv('PATH', `${home}:${process.env['PATH']}`)
    const source = gives('2.1.0')
    const path = await findOrFetch(wanted(refuses, source))
    expect(path.startsWith(join(home, 'cache'))).toBe(true)
    expect(await run(path, [])).toBe('gadget 2.1.0\n')
    expect(await findOrFetch(wanted(refuses, source))).toBe(path)
    expect(source.fetch).toHaveBeenCalledTimes(1)
  })

  test('a server program is found on PATH by an alias', async () => {
    const path = join(home, 'contraption')
    renameSync(writeProgram(home, '2.1.0'), path)
    vi.stubEnv('PATH', `${home}:${process.env['PATH']}`)
    expect(await findOrFetch({ ...wanted(refuses), aliases: ['widget', 'contraption'] })).toBe(path)
  })

  test('a server program is fetched once by two concurrent callers', async () => {
    const source = gives('2.1.0')
    const [one, other] = await Promise.all([findOrFetch(wanted(source)), findOrFetch(wanted(source))])
    expect(one).toBe(other)
    expect(source.fetch).toHaveBeenCalledTimes(1)
  })

  test('a server program that does not run is not cached', async () => {
    await expect(findOrFetch(wanted(gives('1.0.0')))).rejects.toThrow(/a generous source: is version 1\.0/)
    const source = gives('2.1.0')
    await findOrFetch(wanted(source))
    expect(source.fetch).toHaveBeenCalledTimes(1)
  })

  test('a missing server program is reported with everything that was tried and how to fix it', async () => {
    const problem = await findOrFetch(wanted(refuses, gives('0.1.0'))).catch((error: Error) => error.message)
    expect(problem).toBe(
      [
        'The gadget is needed but was not found. Tried:',
        '  - gadget on PATH: not found',
        '  - a closed source: closed on Sundays',
        '  - a generous source: is version 0.1, but at least 2.1 is needed',
        'To fix this, install a gadget. Or set POSTONCE_GADGET to the path of a gadget program.',
      ].join('\n'),
    )
  })
})

describe('a lock', () => {
  test('a lock admits one process at a time, even when all of them find the lock of a dead one', async () => {
    const lock = join(home, 'some.lock')
    const inside = join(home, 'inside')
    symlinkSync(String(await deadPid()), lock)
    const script = join(home, 'worker.mjs')
    writeFileSync(
      script,
      `import { existsSync, rmSync, writeFileSync } from 'node:fs'
      import { setTimeout as delay } from 'node:timers/promises'
      import { withLock } from ${JSON.stringify(join(import.meta.dirname, '../../../scripts/provision.mjs'))}
      await withLock(${JSON.stringify(lock)}, 'the test', async () => {
        if (existsSync(${JSON.stringify(inside)})) process.exitCode = 3
        writeFileSync(${JSON.stringify(inside)}, '')
        await delay(50)
        rmSync(${JSON.stringify(inside)})
      })`,
    )
    const workers = Array.from({ length: 5 }, () => spawn(process.execPath, [script], { stdio: 'ignore' }))
    const codes = await Promise.all(workers.map(async (worker) => (await once(worker, 'exit'))[0]))
    expect(codes).toEqual([0, 0, 0, 0, 0])
    expect(readdirSync(home)).not.toContain('some.lock')
  })

  test("a lock is taken over when its owner's process id belongs to another process", async () => {
    const lock = join(home, 'some.lock')
    symlinkSync(String(process.ppid), lock)
    const longAgo = new Date(Date.now() - 3_600_000)
    lutimesSync(lock, longAgo, longAgo)
    expect(await withLock(lock, 'the test', async () => readlinkSync(lock))).toBe(String(process.pid))
  })

  test('a lock is released when the work fails', async () => {
    const lock = join(home, 'some.lock')
    await expect(withLock(lock, 'the test', () => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
    expect(readdirSync(home)).not.toContain('some.lock')
  })
})

describe('a command that fails', () => {
  test('a failing command is reported with its output', async () => {
    await expect(run('sh', ['-c', 'echo no room left >&2; exit 7'])).rejects.toThrow(
      /ended with code 7:\n {4}no room left/,
    )
  })

  test('a missing command is reported by name', async () => {
    await expect(run('no-such-program', [])).rejects.toThrow(/no-such-program/)
  })
})

async function deadPid(): Promise<number> {
  const child = spawn('true')
  await once(child, 'exit')
  const pid = child.pid ?? 0
  expect(isAlive(pid)).toBe(false)
  return pid
}
