import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import type { Config } from '../../src/config/schema.ts'

/** Runs `npm run admin` as a separate process, like an operator. */
export async function runAdmin(config: Config, args: string[], input = '') {
  const settings = Object.entries(config).map(([name, value]) => [name, String(value)])
  const child = spawn(process.execPath, ['src/cli/admin.ts', ...args], {
    env: {
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      ...Object.fromEntries(settings),
    },
  })
  child.stdin.end(input)
  const exit = new Promise<number | null>((resolve) => child.once('close', resolve))
  const [output, errors, code] = await Promise.all([text(child.stdout), text(child.stderr), exit])
  return { output, errors, code }
}
