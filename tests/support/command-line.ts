import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

export const POSTONCE = fileURLToPath(new URL('../../packages/cli/bin/postonce.js', import.meta.url))

export interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

export interface RunOptions {
  env?: Record<string, string>
  input?: string
  cwd?: string
}

/** Starts `postonce` as a user does, without the environment of the test. */
export function startPostonce(args: string[], { env = {}, cwd }: Omit<RunOptions, 'input'> = {}, program = POSTONCE) {
  return spawn(process.execPath, [program, ...args], {
    cwd,
    env: { PATH: process.env['PATH'], HOME: '/nonexistent', ...env },
  })
}

/** Runs `postonce` to its end. */
export async function runPostonce(args: string[], options: RunOptions = {}, program = POSTONCE): Promise<Ended> {
  const child = startPostonce(args, options, program)
  child.stdin.end(options.input ?? '')
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code: code as number | null, stdout, stderr }
}
