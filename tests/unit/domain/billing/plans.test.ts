import { expect, it } from 'vitest'
import { toLimitError } from '../../../../src/domain/billing/plans.ts'

it.each([
  ['posts', 'POST_LIMIT_REACHED'],
  ['captions', 'CAPTION_LIMIT_REACHED'],
] as const)('says how much of the allowance of %s is used, in the message and as fields', (kind, code) => {
  const error = toLimitError(kind, { used: 30, limit: 30 })
  expect(error).toMatchObject({ code, statusCode: 403, details: { usage: 30, limit: 30 } })
  expect(error.message).toContain('(30/30)')
})
