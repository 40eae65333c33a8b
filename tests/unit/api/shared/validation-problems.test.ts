import { Ajv } from 'ajv'
import { expect, it } from 'vitest'
import { toProblems, type RequestPart } from '../../../../src/api/shared/validation-problems.ts'

function messagesOf(schema: object, value: unknown, part?: RequestPart): string[] {
  const validate = new Ajv({ allErrors: true }).compile({ type: 'object', ...schema })
  validate(value)
  return toProblems((validate.errors ?? []) as Parameters<typeof toProblems>[0], { part }).map(({ message }) => message)
}

it.each([
  ['body', 'plan is missing. Add it to the request body.'],
  ['querystring', 'plan is missing. Add it to the address: ?plan=…'],
  ['headers', 'plan is missing. Add it to the headers.'],
] as const)('a missing field of the %s says where it belongs', (part, message) => {
  expect(messagesOf({ required: ['plan'] }, {}, part)).toEqual([message])
})

it.each([
  ['string', 5, 'must be a text. Put it in quotes.'],
  ['integer', 'x', 'must be a whole number. Write it without quotes.'],
  ['boolean', 'x', 'must be true or false. Write it without quotes.'],
  ['object', 5, 'must be an object. Put its fields in braces: {}.'],
  ['array', 5, 'must be a list. Put its entries in brackets: [].'],
])('a value that is not of the type %s says how JSON writes one', (type, value, message) => {
  const schema = { properties: { field: { type } } }
  expect(messagesOf(schema, { field: value })).toEqual([`field ${message}`])
  expect(messagesOf(schema, { field: value }, 'querystring')).toEqual([
    `field ${message.slice(0, message.indexOf('.') + 1)}`,
  ])
})
