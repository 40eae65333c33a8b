import { Type } from '@sinclair/typebox'
import { expect, it, vi } from 'vitest'
import { isOwnError, toError } from '../../../../src/platforms/bluesky/errors.ts'
import { responseReader } from '../../../../src/platforms/shared/responses.ts'

it('a response is parsed once, however many readers check it', () => {
  const parse = vi.spyOn(JSON, 'parse')
  const text = '{"error":"InvalidRequest","message":"no"}'
  const response = { status: 400, header: () => undefined, text }
  expect([isOwnError(response), toError(response).class]).toEqual([true, 'validation'])
  expect(parse.mock.calls.filter(([given]) => given === text)).toHaveLength(1)
  parse.mockRestore()
})

it('a reader accepts its own shape of a response that another one has refused', () => {
  const [readText, readNumber] = [responseReader(Type.String()), responseReader(Type.Number())]
  expect([readText('1'), readNumber('1'), readText('"1"'), readNumber('1')]).toEqual([null, 1, '1', 1])
  expect([readText(''), readNumber('{'), readNumber('{')]).toEqual([null, null, null])
})
