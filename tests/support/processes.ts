import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { text as readText } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { Config } from '../../src/config/schema.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** Starts processes of the service as a deployment does. `killAll` kills those that still run. */
export function createProcesses() {
  const started: ChildProcess[] = []

  return {
    start(
      entry: string,
      config: Config,
      overrides: Partial<Record<keyof Config, string>> = {},
      nodeOptions: string[] = [],
      args: string[] = [],
    ): ChildProcess {
      const settings = Object.entries({ ...config, ...overrides }).map(([name, value]) => [name, String(value)])
      const child = spawn(process.execPath, [...nodeOptions, entry, ...args], {
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

/** Waits until the process exits, and returns its exit code and its output on stderr. */
export async function waitForExit(child: ChildProcess): Promise<{ code: number; errors: string }> {
  const [errors, [code]] = await Promise.all([readText(child.stderr!), once(child, 'exit') as Promise<[number]>])
  return { code, errors }
}

/** Resolves with the first log entry that contains the text. Later output is discarded. */
export function waitForLogEntry(child: ChildProcess, text: string): Promise<Record<string, unknown>> {
  return new Promise((resolve, reject) => {
    let output = ''
    const listen = (chunk: Buffer) => {
      output += String(chunk)
      const line = output.split('\n').find((candidate) => candidate.includes(text) && candidate.endsWith('}'))
      if (!line) return
      child.stdout!.off('data', listen).resume()
      resolve(JSON.parse(line) as Record<string, unknown>)
    }
    child.stdout!.on('data', listen)
    child.stdout!.once('end', () => reject(new Error(`The process ended without logging "${text}": ${output}`)))
  })
}
