import { expect, it } from 'vitest'
import { isMailAddress } from '../../../../src/domain/users/mail-addresses.ts'

const label = (length: number) => 'x'.repeat(length)
/** An address with this total length and valid parts. */
const withLength = (length: number) => {
  const rest = `${label(60)}@${label(60)}.${label(60)}.${label(60)}.`
  return rest + label(length - rest.length)
}

it.each([
  'ann@example.com',
  ' ann@example.com ',
  "o'neil+tag@mail.example.co.uk",
  'änn@bücher.example',
  'a@b.c',
  `${label(64)}@example.com`,
  `ann@${label(63)}.example`,
  withLength(254),
])('isMailAddress accepts %j', (address) => expect(isMailAddress(address)).toBe(true))

it.each([
  '',
  'ann',
  'ann@',
  '@example.com',
  'ann@example',
  'ann@-example.com',
  'ann@example-.com',
  'ann@exa_mple.com',
  'ann@example..com',
  'ann@@example.com',
  'Ann <ann@example.com>',
  '"ann"@example.com',
  'ann,bob@example.com',
  'ann@example.com\nbcc:bob@example.com',
  'an\u0000n@example.com',
  `${label(65)}@example.com`,
  `ann@${label(64)}.example`,
  withLength(255),
])('isMailAddress rejects %j', (address) => expect(isMailAddress(address)).toBe(false))
