import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { errorCodeSections } from '../../scripts/error-codes.ts'
import { FAILURE_CODES } from '../../src/domain/posts/failure.ts'
import { SERVICE_ERROR_CODES, toHttpStatus, type ServiceErrorCode } from '../../src/domain/shared/service-error.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

test('the error code lists have every code of the API by its status, and of failed deliveries in order', () => {
  const [service, deliveries] = errorCodeSections().map(({ content }) =>
    [...content.matchAll(/^- `(\w+)`: \S/gm)].map(([, code]) => code),
  )
  const statuses = service!.map((code) => toHttpStatus(code as ServiceErrorCode))
  expect(statuses).toEqual(statuses.toSorted((one, other) => one - other))
  expect(service).toHaveLength(SERVICE_ERROR_CODES.length)
  expect(new Set(service)).toEqual(new Set(SERVICE_ERROR_CODES))
  expect(deliveries).toEqual(FAILURE_CODES)
})

test('the error code page explains every code of a validation problem', () => {
  const page = readFileSync(`${ROOT}docs/reference/error-codes.md`, 'utf8')
  const sources = globSync('src/{api,commands,domain}/**/*.ts', { cwd: ROOT }).map((file) =>
    readFileSync(ROOT + file, 'utf8'),
  )
  const used = sources.flatMap((source) => [...source.matchAll(/\bcode: '([A-Z_]+)'/g)].map(([, code]) => code!))
  expect(used.length).toBeGreaterThan(20)
  expect(used.filter((code) => !page.includes(`\`${code}\``))).toEqual([])
})
