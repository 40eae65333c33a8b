import { expect, test } from 'vitest'
import { findForbiddenHeader, isLoopback, parseBearer } from '../../../packages/mcp/src/http-checks.ts'

const ALLOWED = { hosts: ['mcp.example.com'], origins: ['https://app.example.com'] }
const check = (headers: { host?: string; origin?: string }) => findForbiddenHeader(headers, ALLOWED)

test.each(['localhost', 'localhost:4700', '127.0.0.1:1', '[::1]:4700', 'mcp.example.com', 'MCP.example.com:443'])(
  'the host %s is allowed',
  (host) => expect(check({ host })).toBeNull(),
)

test.each([
  '',
  'example.com',
  'localhost.example.com',
  'localhost@example.com',
  '127.0.0.1.example.com',
  'a b',
  '[::2]',
  '0.0.0.0',
])('the host %j is forbidden', (host) => expect(check({ host })).toContain('--allow-host'))

test('a request without a host is forbidden', () => {
  expect(check({})).toContain('--allow-host')
})

test.each(['http://localhost', 'null', 'https://app.example.com.evil.example', 'http://app.example.com', ''])(
  'the origin %j is forbidden',
  (origin) => expect(check({ host: 'localhost', origin })).toContain('--allow-origin'),
)

test('a listed origin is allowed', () => {
  expect(check({ host: 'localhost', origin: 'https://app.example.com' })).toBeNull()
})

test('only names of this machine are loopback', () => {
  expect(['localhost', '127.0.0.1', '::1', '0.0.0.0', '::', '192.0.2.1'].map(isLoopback)).toEqual([
    true,
    true,
    true,
    false,
    false,
    false,
  ])
})

test.each([
  [undefined, null],
  ['', null],
  ['Basic abc', null],
  ['Bearer ', null],
  ['Bearer a b', null],
  ['Bearer po_live_1', 'po_live_1'],
  ['bearer po_live_1', 'po_live_1'],
])('the key in the authorization %j is %j', (authorization, key) => {
  expect(parseBearer(authorization === undefined ? {} : { authorization })).toBe(key)
})
