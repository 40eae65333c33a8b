#!/usr/bin/env node
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const source = fileURLToPath(new URL('../src/main.ts', import.meta.url))
if (existsSync(source)) {
  const { runSource } = await import('../../../scripts/run-source.mjs')
  runSource(source)
} else {
  await import('../dist/main.js')
}
