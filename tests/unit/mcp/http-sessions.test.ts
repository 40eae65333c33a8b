import { expect, test } from 'vitest'
import { createSessions } from '../../../packages/mcp/src/http-sessions.ts'

const IDLE_MS = 1_000

function openStore(maxPerKey = 2) {
  const closed: string[] = []
  const sessions = createSessions<{ close(): Promise<void> }>({ maxPerKey, idleMs: IDLE_MS })
  const add = (id: string, apiKey: string, now: number) =>
    sessions.add(id, { close: async () => void closed.push(id) }, apiKey, now)
  return { sessions, add, closed }
}

test('a session is found by its id with its key only', async () => {
  const { sessions, add } = openStore()
  await add('a', 'key', 0)
  expect(sessions.find('a', 'key')).not.toBeNull()
  expect(sessions.find('a', 'other')).toBeNull()
  expect(sessions.find('b', 'key')).toBeNull()
})

test('the session of a key that was unused for longest is closed when the key opens too many', async () => {
  const { sessions, add, closed } = openStore()
  await add('other', 'other', 0)
  await add('a', 'key', 1)
  await add('b', 'key', 2)
  sessions.use('a', () => 3)()
  await add('c', 'key', 4)
  expect(closed).toEqual(['b'])
  expect(sessions.find('b', 'key')).toBeNull()
  expect(sessions.find('a', 'key')).not.toBeNull()
})

test('an idle session is closed, and one with an open request is not', async () => {
  const { sessions, add, closed } = openStore(3)
  await add('idle', 'key', 0)
  await add('streaming', 'key', 0)
  await add('used', 'key', 0)
  const end = sessions.use('streaming', () => 0)
  sessions.use('used', () => 1)()
  await sessions.closeIdle(IDLE_MS)
  expect(closed).toEqual(['idle'])
  end()
  await sessions.closeIdle(2 * IDLE_MS)
  expect(closed.toSorted()).toEqual(['idle', 'streaming', 'used'])
})

test('a closed session is closed once, and closing all closes the rest', async () => {
  const { sessions, add, closed } = openStore()
  await add('a', 'key', 0)
  await add('b', 'key', 0)
  const end = sessions.use('a', () => 1)
  await sessions.close('a')
  await sessions.close('a')
  end()
  await sessions.closeAll()
  expect(closed).toEqual(['a', 'b'])
})
