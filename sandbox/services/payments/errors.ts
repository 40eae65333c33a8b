import { RefusedCall } from '../../platforms/shared/refused-call.ts'

interface Problem {
  message: string
  type?: 'invalid_request_error' | 'idempotency_error' | 'api_error'
  code?: string
  param?: string
}

/** Creates an error response with the real API's wording. */
export function refused(status: number, { type = 'invalid_request_error', ...problem }: Problem): RefusedCall {
  return new RefusedCall({ status, body: errorBody({ type, ...problem }) })
}

export function errorBody({ type = 'invalid_request_error', code, message, param }: Problem) {
  return {
    error: {
      ...(code && { code, doc_url: `https://stripe.com/docs/error-codes/${code.replaceAll('_', '-')}` }),
      message,
      ...(param && { param }),
      type,
    },
  }
}

/** An unknown id is a 404 in the path and a 400 in a parameter. */
export function noSuch(what: string, id: string, param?: string): RefusedCall {
  return refused(param === undefined ? 404 : 400, {
    code: 'resource_missing',
    message: `No such ${what}: '${id}'`,
    param: param ?? 'id',
  })
}
