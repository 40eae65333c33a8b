import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { readOptions, UsageError } from '../../../packages/mcp/src/options.ts'

const URL = 'https://postonce.example.com'

test('the address and the key come from the environment, and an argument is preferred', () => {
  const env = { POSTONCE_URL: URL, POSTONCE_API_KEY: 'po_live_1' }
  expect(readOptions([], env)).toEqual({ mode: 'stdio', url: URL, apiKey: 'po_live_1' })
  expect(readOptions(['--url', 'http://localhost:4000'], env)).toMatchObject({ url: 'http://localhost:4000' })
})

test('HTTP listens on this machine unless another host is named', () => {
  expect(readOptions(['--http'], { POSTONCE_URL: URL })).toEqual({
    mode: 'http',
    url: URL,
    host: '127.0.0.1',
    port: 4700,
    allowed: { hosts: [], origins: [] },
  })
  const args = ['--http', '--host', '0.0.0.0', '--allow-host', 'a.example', '--allow-host', 'b.example', '--port', '80']
  expect(readOptions(args, { POSTONCE_URL: URL })).toMatchObject({
    host: '0.0.0.0',
    port: 80,
    allowed: { hosts: ['a.example', 'b.example'] },
  })
})

test.each([
  [['--http', '--host', '192.0.2.1'], '--allow-host'],
  [['--http', '--port', '65536'], '--port'],
  [['--http', '--port', 'x'], '--port'],
  [['--url', 'postonce.example.com'], '--url'],
  [['--url', 'http://'], '--url'],
  [['--url', 'https:postonce.example.com'], '--url'],
  [['file'], 'file'],
  [[], 'POSTONCE_API_KEY'],
])('the arguments %j are refused', (args, message) => {
  const read = () => readOptions(args, { POSTONCE_URL: URL })
  expect(read).toThrow(UsageError)
  expect(read).toThrow(message)
})

test('the guide connects to the default address', () => {
  const options = readOptions(['--http'], { POSTONCE_URL: URL })
  if (options.mode !== 'http') throw new Error(options.mode)
  const guide = readFileSync('docs/guide/mcp.md', 'utf8')
  expect(guide).toContain(`claude mcp add --transport http postonce http://${options.host}:${options.port}/mcp `)
})

test('help and version need no settings', () => {
  expect(readOptions(['--help'], {})).toEqual({ mode: 'help' })
  expect(readOptions(['--version'], {})).toEqual({ mode: 'version' })
})
