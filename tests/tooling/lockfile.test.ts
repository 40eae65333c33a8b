import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { findMissingPackages } from '../../scripts/complete-lockfile.mjs'

const lockfile = JSON.parse(readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8'))

test('the lockfile names every optional package, or `npm ci` refuses it: node scripts/complete-lockfile.mjs adds them', () => {
  expect([...findMissingPackages(lockfile).keys()]).toEqual([])
})

test('a missing optional package is noticed', () => {
  const { 'node_modules/@swc/core-darwin-arm64': removed, ...packages } = lockfile.packages
  expect(removed).toBeDefined()
  expect([...findMissingPackages({ packages }).keys()]).toEqual(['node_modules/@swc/core-darwin-arm64'])
})
