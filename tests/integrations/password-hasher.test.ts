import { expect, it } from 'vitest'
import { createPasswordHasher } from '../../src/integrations/password-hasher.ts'

it('hashes with argon2id at the cost of the safety rules, and checks what it hashed', async () => {
  const hasher = createPasswordHasher()
  const hashed = await hasher.hash('correct horse')
  expect(hashed).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  expect(await hasher.verify(hashed, 'correct horse')).toBe(true)
  expect(await hasher.verify(hashed, 'correct horses')).toBe(false)
})

it('never matches where there is no stored hash, and takes about as long to say so', async () => {
  const hasher = createPasswordHasher()
  const stored = await hasher.hash('correct horse')
  const times: Record<'known' | 'unknown', number[]> = { known: [], unknown: [] }
  for (let round = 0; round < 9; round += 1) {
    for (const [kind, hash] of [
      ['known', stored],
      ['unknown', null],
    ] as const) {
      const startedAt = performance.now()
      expect(await hasher.verify(hash, 'wrong password')).toBe(false)
      times[kind].push(performance.now() - startedAt)
    }
  }
  const median = (values: number[]) => values.toSorted((one, other) => one - other)[4]!
  // Without the hash for unknown addresses, they answer in a fraction of the time.
  expect(median(times.unknown)).toBeGreaterThan(median(times.known) * 0.5)
})

it('works on four at once, lets some wait, and sends the rest away', async () => {
  const hasher = createPasswordHasher({ atOnce: 4, waiting: 2 })
  const hashed = await hasher.hash('correct horse')
  // The hash for unknown addresses is made first, and takes a turn.
  await hasher.verify(null, '')
  const checks = await Promise.allSettled(Array.from({ length: 7 }, () => hasher.verify(hashed, 'correct horse')))
  expect(checks.filter(({ status }) => status === 'fulfilled')).toHaveLength(6)
  const [refused] = checks.filter((check) => check.status === 'rejected')
  expect(refused!.reason).toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 1 })
  expect(await hasher.verify(hashed, 'correct horse')).toBe(true)
})
