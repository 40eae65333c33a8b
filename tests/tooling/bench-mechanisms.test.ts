import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { MECHANISMS } from '../../bench/groups/mechanisms.ts'
import { PROJECT_ROOT } from '../../sandbox/options.ts'
import { copySource } from '../support/copied-source.ts'

const listSources = (root: string) =>
  globSync('src/**/*.ts', { cwd: root }).map((path) => readFileSync(join(root, path), 'utf8'))

test('every marked mechanism has a benchmark that runs without it', () => {
  const marked = listSources(PROJECT_ROOT).flatMap((source) =>
    [...source.matchAll(/^ *\/\/ mechanism: (.+)$/gm)].map(([, name]) => name),
  )
  expect(new Set(marked)).toEqual(new Set(MECHANISMS.map(({ off }) => off.anchor)))
})

test('the source without the mechanisms is valid', () => {
  const root = mkdtempSync(join(tmpdir(), 'postonce-mechanisms-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  copySource(
    root,
    MECHANISMS.map(({ off }) => off),
  )
  for (const source of listSources(root)) expect(() => stripTypeScriptTypes(source)).not.toThrow()
})
