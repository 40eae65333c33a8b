#!/usr/bin/env node
// The published package has compiled files only. In a checkout, scripts/run.mjs runs the sources with the Node that they need.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const source = fileURLToPath(new URL('../src/main.ts', import.meta.url))
if (existsSync(source)) {
  const runner = fileURLToPath(new URL('../../../scripts/run.mjs', import.meta.url))
  const options = `${process.env['NODE_OPTIONS'] ?? ''} --conditions=postonce-source`.trim()
  const child = spawn(process.execPath, [runner, source, ...process.argv.slice(2)], {
    stdio: 'inherit',
    env: { ...process.env, NODE_OPTIONS: options },
  })
  process.on('SIGTERM', () => child.kill('SIGTERM'))
  process.on('SIGINT', () => {
    // A terminal sends Ctrl-C to the child as well.
    if (!process.stdin.isTTY) child.kill('SIGINT')
  })
  child.once('exit', (code) => process.exit(code ?? 1))
} else {
  await import('../dist/main.js')
}
