import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { findMissingPackages } from '../../scripts/complete-lockfile.mjs'

const lockfile = JSON.parse(readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8'))

// Otherwise `npm ci` refuses the lockfile on other systems. `node scripts/complete-lockfile.mjs` adds the entries.
test('the lockfile contains every optional package', () => {
  expect([...findMissingPackages(lockfile).keys()]).toEqual([])
})

test('a missing optional package in the lockfile is detected', () => {
  const { 'node_modules/@swc/core-darwin-arm64': removed, ...packages } = lockfile.packages
  expect(removed).toBeDefined()
  expect([...findMissingPackages({ packages }).keys()]).toEqual(['node_modules/@swc/core-darwin-arm64'])
})
