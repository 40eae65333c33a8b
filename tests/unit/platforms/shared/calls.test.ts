import { expect, it } from 'vitest'
import { PlatformError } from '../../../../src/platforms/errors.ts'
import { createSender } from '../../../../src/platforms/shared/calls.ts'
import { HttpFailure, type HttpClient, type HttpRequest } from '../../../../src/platforms/shared/http.ts'

const ORIGIN = 'https://platform.example'
const PAGE = '<h1>Sorry</h1>'
const OWN = '{"error":"own"}'

/** Returns the error of a call. */
async function fail(send: HttpClient['send'], body?: HttpRequest['body']): Promise<PlatformError> {
  const call = createSender({ send } as HttpClient, {
    label: 'Platform',
    toError: ({ status }) => new PlatformError(status === 413 ? 'validation' : 'transient', 'No', { certain: false }),
    isPlatformError: ({ text }) => text === OWN,
  })
  const request = { method: 'POST', url: new URL('/posts', ORIGIN), signal: new AbortController().signal } as const
  const error: unknown = await call({ ...request, ...(body !== undefined && { body }) }, () => null).catch(
    (thrown: unknown) => thrown,
  )
  return error as PlatformError
}

const answer = (status: number, text: string) => async () => ({ status, text, header: () => undefined })
const lose = (options: { sent: boolean; isUnreadable?: boolean }) => () =>
  Promise.reject(new HttpFailure('failed', { ...options, cause: null }))

const UNREACHED: [string, HttpClient['send']][] = [
  ['a call that was not sent', lose({ sent: false })],
  ['a call without a response', lose({ sent: true })],
  ...[502, 503, 504].map((status): [string, HttpClient['send']] => [
    `the platform's own ${status}`,
    answer(status, OWN),
  ]),
  ...[200, 403, 404, 408, 413, 500, 502, 520].map((status): [string, HttpClient['send']] => [
    `a page with ${status}`,
    answer(status, PAGE),
  ]),
]

it.each(UNREACHED)('%s did not reach the server', async (_, send) => {
  expect((await fail(send)).unreachable).toBe(ORIGIN)
})

it.each([
  ["the platform's own 500", answer(500, OWN)],
  ["the platform's own 408", answer(408, OWN)],
  ['JSON of an unexpected shape', answer(200, '{}')],
  ['a response that is too long', lose({ sent: true, isUnreadable: true })],
])('%s is an answer of the server', async (_, send) => {
  expect((await fail(send)).unreachable).toBeNull()
})

it('a page with 413 concerns a file that is sent, and no text', async () => {
  const file = async function* () {
    yield new Uint8Array(1)
  }
  for (const text of ['{"status":"words"}', undefined]) {
    expect(await fail(answer(413, PAGE), text)).toMatchObject({
      class: 'transient',
      certain: false,
      unreachable: ORIGIN,
    })
  }
  for (const body of [new Uint8Array(1), file()]) {
    expect(await fail(answer(413, PAGE), body)).toMatchObject({ class: 'validation', unreachable: null })
  }
  expect(await fail(answer(413, OWN), 'words')).toMatchObject({ class: 'validation', unreachable: null })
})
