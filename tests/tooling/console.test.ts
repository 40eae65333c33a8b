import { globSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { freePort, startProcess } from '../../sandbox/servers/process.ts'
import { buildConsole, measureFirstPage } from '../../scripts/build-console.ts'
import { run } from '../../scripts/provision.mjs'
import { temporaryFolder } from '../support/temporary-folder.ts'

const MAX_FIRST_PAGE_BYTES = 300_000

/** Hosts of addresses that no browser requests: names of XML vocabularies, and links in the messages of libraries. */
const NEVER_REQUESTED = [
  ...['www.w3.org', 'react.dev', 'mantine.dev', 'redux.js.org', 'redux-toolkit.js.org', 'bit.ly'],
  ...['developer.mozilla.org', 'localhost'],
]
const EXAMPLE = /(?:^|\.)example\.(?:com|org)$/

let folder = ''
beforeAll(async () => {
  folder = await buildConsole()
})

test('the console is built once, also when several processes ask for it', async () => {
  const builtAt = statSync(join(folder, 'index.html')).mtimeMs
  expect(await Promise.all([buildConsole(), buildConsole()])).toEqual([folder, folder])
  expect(statSync(join(folder, 'index.html')).mtimeMs).toBe(builtAt)
})

test('the first page of the console is at most 300 KB, compressed', () => {
  const bytes = measureFirstPage(folder)
  expect(bytes).toBeGreaterThan(1_000)
  expect(bytes).toBeLessThanOrEqual(MAX_FIRST_PAGE_BYTES)
})

test('the built console names no foreign host', () => {
  const files = globSync('**/*.{html,js,css,svg}', { cwd: folder })
  expect(files.length).toBeGreaterThan(2)
  const named = files.flatMap((file) =>
    [...readFileSync(join(folder, file), 'utf8').matchAll(/\b(?:https?|wss?):\/\/([\w-]+(?:\.[\w-]+)*)/g)]
      .filter(([, host]) => !NEVER_REQUESTED.includes(host!) && !EXAMPLE.test(host!))
      .map(([address]) => `${file}: ${address}`),
  )
  expect(named).toEqual([])
})

/** The command of `npm run console`. */
const consoleArgs = (...options: string[]) => ['scripts/run.mjs', 'scripts/console.ts', ...options]

test('npm run console serves the sources with the address of the API of a running sandbox', async () => {
  const dir = temporaryFolder()
  writeFileSync(join(dir, 'world.json'), JSON.stringify({ api: 'http://localhost:4321', users: [] }))
  const url = `http://localhost:${await freePort()}`
  const page = () => fetch(url, { headers: { accept: 'text/html' } })
  const server = await startProcess({
    title: 'The console',
    command: process.execPath,
    args: consoleArgs('--dir', dir, '--port', new URL(url).port),
    logFile: join(dir, 'console.log'),
    ready: async () => (await page()).ok,
  })
  onTestFinished(() => server.stop())
  expect(await (await page()).text()).toContain('<meta name="api" content="http://localhost:4321" />')
  expect(await (await fetch(`${url}/src/main.tsx`)).text()).toContain('createRoot')
})

test('npm run console without a running sandbox fails with the next step', async () => {
  const dir = temporaryFolder()
  await expect(run(process.execPath, consoleArgs('--dir', dir))).rejects.toThrow(
    `No sandbox is running in ${dir}. Start it with "npm run dev"`,
  )
})
