import { expect, it } from 'vitest'
import { createPasswordHasher } from '../../src/integrations/password-hasher.ts'

it('hashes with argon2id at the cost of the safety rules, and checks what it hashed', async () => {
  const hasher = createPasswordHasher()
  const hashed = await hasher.hash('correct horse')
  expect(hashed).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  expect(await hasher.verify(hashed, 'correct horse')).toBe(true)
  expect(await hasher.verify(hashed, 'correct horses')).toBe(false)
})

it('never matches where there is no stored hash', async () => {
  expect(await createPasswordHasher().verify(null, '')).toBe(false)
})

it('works on four at once, lets some wait, and sends the rest away', async () => {
  const hasher = createPasswordHasher({ waiting: 2 })
  const hashed = await hasher.hash('correct horse')
  // The hash for unknown addresses is made first, and takes a turn.
  await hasher.verify(null, '')
  const checks = await Promise.allSettled(Array.from({ length: 7 }, () => hasher.verify(hashed, 'correct horse')))
  expect(checks.filter(({ status }) => status === 'fulfilled')).toHaveLength(6)
  const [refused] = checks.filter((check) => check.status === 'rejected')
  expect(refused!.reason).toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 1 })
  expect(await hasher.verify(hashed, 'correct horse')).toBe(true)
})
