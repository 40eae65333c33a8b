import { expect, it } from 'vitest'
import { createPasswordHasher } from '../../../src/security/password-hasher.ts'

it('the hasher uses argon2id with the documented cost and verifies its own hashes', async () => {
  const hasher = createPasswordHasher()
  const hashed = await hasher.hash('correct horse', 'ann')
  expect(hashed).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  expect(await hasher.verify(hashed, 'correct horse', 'ann')).toBe(true)
  expect(await hasher.verify(hashed, 'correct horses', 'ann')).toBe(false)
})

it('verifying without a stored hash always fails and takes about as much processor time', async () => {
  const hasher = createPasswordHasher()
  const stored = await hasher.hash('correct horse', 'ann')
  const times: Record<'known' | 'unknown', number[]> = { known: [], unknown: [] }
  for (let round = 0; round < 9; round += 1) {
    for (const [kind, hash] of [
      ['known', stored],
      ['unknown', null],
    ] as const) {
      const before = process.cpuUsage()
      expect(await hasher.verify(hash, 'wrong password', 'ann')).toBe(false)
      times[kind].push(process.cpuUsage(before).user)
    }
  }
  const median = (values: number[]) => values.toSorted((one, other) => one - other)[4]!
  // Without the hash for unknown addresses, they would answer in a fraction of the time.
  expect(median(times.unknown)).toBeGreaterThan(median(times.known) * 0.5)
})

it('the hasher runs four hashes concurrently, queues some and rejects the rest', async () => {
  const hasher = createPasswordHasher({ maxConcurrent: 4, waiting: 2 })
  const hashed = await hasher.hash('correct horse', 'ann')
  // The hash for unknown addresses is computed first and takes a turn.
  await hasher.verify(null, '', 'ann')
  const checks = await Promise.allSettled(
    Array.from({ length: 7 }, () => hasher.verify(hashed, 'correct horse', 'ann')),
  )
  expect(checks.filter(({ status }) => status === 'fulfilled')).toHaveLength(6)
  const [refused] = checks.filter((check) => check.status === 'rejected')
  expect(refused!.reason).toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 1 })
  expect(await hasher.verify(hashed, 'correct horse', 'ann')).toBe(true)
})

it('many verifications from one address delay a login from another address by one hash at most', async () => {
  const hasher = createPasswordHasher({ maxConcurrent: 1, waiting: 50 })
  const hashed = await hasher.hash('correct horse', 'setup')
  await hasher.verify(null, '', 'setup')
  const ended: string[] = []
  const check = async (address: string) => {
    await hasher.verify(hashed, 'correct horse', address)
    ended.push(address)
  }
  const checks = Array.from({ length: 20 }, () => check('192.0.2.1'))
  await Promise.all([...checks, check('192.0.2.2')])
  expect(ended.indexOf('192.0.2.2')).toBe(1)
})
