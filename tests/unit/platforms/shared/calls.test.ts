import { expect, it } from 'vitest'
import { PlatformError } from '../../../../src/platforms/errors.ts'
import { createSender } from '../../../../src/platforms/shared/calls.ts'
import { HttpFailure, type HttpClient } from '../../../../src/platforms/shared/http.ts'

const ORIGIN = 'https://platform.example'
const PAGE = '<h1>Sorry</h1>'
const OWN = '{"error":"own"}'

/** Returns the origin that the error of a call names; null for an answer of the platform. */
async function findUnreachable(send: HttpClient['send']): Promise<string | null> {
  const call = createSender({ send } as HttpClient, {
    label: 'Platform',
    toError: () => new PlatformError('transient', 'Not now', { certain: false }),
    isPlatformError: ({ text }) => text === OWN,
  })
  const request = { method: 'GET', url: new URL('/posts', ORIGIN), signal: new AbortController().signal } as const
  const error: unknown = await call(request, () => null).catch((thrown: unknown) => thrown)
  return (error as PlatformError).unreachable
}

const answer = (status: number, text: string) => async () => ({ status, text, header: () => undefined })
const fail = (options: { sent: boolean; isUnreadable?: boolean }) => () =>
  Promise.reject(new HttpFailure('failed', { ...options, cause: null }))

const UNREACHED: [string, HttpClient['send']][] = [
  ['a call that was not sent', fail({ sent: false })],
  ['a call without a response', fail({ sent: true })],
  ...[502, 503, 504].map((status): [string, HttpClient['send']] => [
    `the platform's own ${status}`,
    answer(status, OWN),
  ]),
  ...[200, 403, 404, 408, 500, 502, 520].map((status): [string, HttpClient['send']] => [
    `a page with ${status}`,
    answer(status, PAGE),
  ]),
]

it.each(UNREACHED)('%s did not reach the server', async (_, send) => {
  expect(await findUnreachable(send)).toBe(ORIGIN)
})

it.each([
  ["the platform's own 500", answer(500, OWN)],
  ["the platform's own 408", answer(408, OWN)],
  ['JSON of an unexpected shape', answer(200, '{}')],
  ['a response that is too long', fail({ sent: true, isUnreadable: true })],
])('%s is an answer of the server', async (_, send) => {
  expect(await findUnreachable(send)).toBeNull()
})
