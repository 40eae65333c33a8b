import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { CONNECT_REASONS } from '../../src/domain/accounts/platform-connect.ts'
import { FAILURE_CODES } from '../../src/domain/posts/failure.ts'
import { SERVICE_ERROR_CODES, toHttpStatus } from '../../src/domain/shared/service-error.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const PAGE = readFileSync(`${ROOT}docs/reference/error-codes.md`, 'utf8')

/** Returns the statuses and the explained codes below a heading of the page. */
function listExplained(heading: string): string[] {
  const section = PAGE.split('\n## ').find((part) => part.startsWith(`${heading}\n`)) ?? ''
  return [...section.matchAll(/^\*\*(\d+)\*\*$|^- `(\w+)`: \S/gm)].map(([, status, code]) => status ?? code!)
}

test('the error code page explains every code of the API below its status', () => {
  const statuses = [...new Set(SERVICE_ERROR_CODES.map(toHttpStatus))].toSorted((one, other) => one - other)
  const expected = statuses.flatMap((status) => [
    String(status),
    ...SERVICE_ERROR_CODES.filter((code) => toHttpStatus(code) === status),
  ])
  expect(listExplained('Codes of the API')).toEqual(expected)
})

test('the error code page explains every code of a failed delivery and every reason of a failed connection', () => {
  expect(listExplained('Codes of a failed delivery')).toEqual(FAILURE_CODES)
  expect(listExplained('Reasons of a failed connection')).toEqual(CONNECT_REASONS)
})

test('the error code page explains every code of a validation problem', () => {
  const sources = globSync('src/{api,commands,domain}/**/*.ts', { cwd: ROOT }).map((file) =>
    readFileSync(ROOT + file, 'utf8'),
  )
  const used = sources.flatMap((source) => [...source.matchAll(/\bcode: '([A-Z_]+)'/g)].map(([, code]) => code!))
  expect(used.length).toBeGreaterThan(20)
  expect(used.filter((code) => !PAGE.includes(`\`${code}\``))).toEqual([])
})
