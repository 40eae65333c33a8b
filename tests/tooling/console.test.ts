import { globSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { buildConsole, measureFirstPage } from '../../scripts/build-console.ts'

const MAX_FIRST_PAGE_BYTES = 300_000

/** Hosts of addresses that no browser requests: names of XML vocabularies, links in error messages, and examples. */
const NEVER_REQUESTED =
  /^(?:www\.w3\.org|react\.dev|mantine\.dev|redux\.js\.org|redux-toolkit\.js\.org|bit\.ly|localhost|(?:[\w-]+\.)?example\.(?:com|org))$/

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
      .filter(([, host]) => !NEVER_REQUESTED.test(host!))
      .map(([address]) => `${file}: ${address}`),
  )
  expect(named).toEqual([])
})
