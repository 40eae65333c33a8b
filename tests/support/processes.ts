import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { Config } from '../../src/config/schema.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** Starts the service's processes as a deployment does; `killAll` ends what is left of them. */
export function createProcesses() {
  const started: ChildProcess[] = []

  return {
    start(
      entry: string,
      config: Config,
      overrides: Partial<Record<keyof Config, string>> = {},
      nodeOptions: string[] = [],
    ): ChildProcess {
      const settings = Object.entries({ ...config, ...overrides }).map(([name, value]) => [name, String(value)])
      const child = spawn(process.execPath, [...nodeOptions, entry], {
        cwd: ROOT,
        env: {
          PATH: process.env['PATH'],
          NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
          ...Object.fromEntries(settings),
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      started.push(child)
      return child
    },

    killAll(): void {
      for (const child of started.splice(0)) child.kill('SIGKILL')
    },
  }
}

export async function end(child: ChildProcess): Promise<{ code: number; errors: string }> {
  const [errors, [code]] = await Promise.all([text(child.stderr!), once(child, 'exit') as Promise<[number]>])
  return { code, errors }
}

/** Resolves with the log line that has these words; what is logged after it is thrown away. */
export function said(child: ChildProcess, words: string): Promise<Record<string, unknown>> {
  return new Promise((resolve, reject) => {
    let seen = ''
    const listen = (chunk: Buffer) => {
      seen += String(chunk)
      const line = seen.split('\n').find((candidate) => candidate.includes(words) && candidate.endsWith('}'))
      if (!line) return
      child.stdout!.off('data', listen).resume()
      resolve(JSON.parse(line) as Record<string, unknown>)
    }
    child.stdout!.on('data', listen)
    child.stdout!.once('end', () => reject(new Error(`It ended without saying "${words}": ${seen}`)))
  })
}
