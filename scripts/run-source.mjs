// Runs a program of `packages` from its sources, with the Node that they need. The published packages have compiled files instead.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const RUNNER = fileURLToPath(new URL('run.mjs', import.meta.url))

/**
 * Starts the source with the arguments of this process, and ends with it.
 * @param {string} source a file path
 */
export function runSource(source) {
  const options = `${process.env['NODE_OPTIONS'] ?? ''} --conditions=postonce-source`.trim()
  const child = spawn(process.execPath, [RUNNER, source, ...process.argv.slice(2)], {
    stdio: 'inherit',
    env: { ...process.env, NODE_OPTIONS: options },
  })
  process.on('SIGTERM', () => child.kill('SIGTERM'))
  process.on('SIGINT', () => {
    // A terminal sends Ctrl-C to the child as well.
    if (!process.stdin.isTTY) child.kill('SIGINT')
  })
  child.once('exit', (code) => process.exit(code ?? 1))
}
