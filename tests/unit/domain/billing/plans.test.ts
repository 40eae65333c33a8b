import { expect, it } from 'vitest'
import { toLimitError } from '../../../../src/domain/billing/plans.ts'

it.each([
  ['posts', 'POST_LIMIT_REACHED'],
  ['captions', 'CAPTION_LIMIT_REACHED'],
] as const)('the error for used-up %s has the usage in its message and its fields', (kind, code) => {
  const error = toLimitError(kind, { used: 30, limit: 30 })
  expect(error).toMatchObject({ code, statusCode: 403, details: { usage: 30, limit: 30 } })
  expect(error.message).toContain('(30/30)')
})
