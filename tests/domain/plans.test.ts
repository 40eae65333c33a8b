import { expect, it } from 'vitest'
import { postLimitReached } from '../../src/domain/plans.ts'

it('says how much of the allowance is used, in the message and as fields', () => {
  const error = postLimitReached({ used: 30, limit: 30 })
  expect(error).toMatchObject({ code: 'POST_LIMIT_REACHED', statusCode: 403, details: { usage: 30, limit: 30 } })
  expect(error.message).toContain('(30/30)')
})
