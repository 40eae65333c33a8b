import type { FastifyInstance, FastifyRequest } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { ServiceError, validationFailed } from '../../domain/service-error.ts'

const MAX_DEPTH = 32
/** A post with every field filled for every platform has some 1,500 values. */
const MAX_VALUES = 10_000

/**
 * The body parser of all routes but the webhook: JSON in valid UTF-8, of bounded depth and size, without NUL characters and lone surrogates, which
 * neither the database nor the platforms can hold. `__proto__` is dropped like any other unknown field. An empty body is no body.
 */
export const jsonBodies = fastifyPlugin(
  async (app: FastifyInstance) => {
    app.removeAllContentTypeParsers()
    app.addContentTypeParser(
      'application/json',
      { parseAs: 'buffer' },
      async (request: FastifyRequest, body: Buffer) => {
        const encoding = request.headers['content-encoding']
        if (encoding !== undefined && encoding !== 'identity') {
          throw new ServiceError('UNSUPPORTED_MEDIA_TYPE', 'Request bodies must not be compressed')
        }
        return body.length === 0 ? undefined : parseJson(body)
      },
    )
  },
  { name: 'json-bodies', fastify: '5.x' },
)

function parseJson(body: Buffer): unknown {
  const value = parseText(decode(body))
  assertHarmless(value)
  return value
}

function decode(body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch {
    throw new ServiceError('BAD_REQUEST', 'Request body is not valid UTF-8')
  }
}

function parseText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new ServiceError('BAD_REQUEST', 'Request body is not valid JSON')
  }
}

interface Visit {
  value: unknown
  path: string
  depth: number
}

/** Walks without recursion, since the depth is the client's choice. */
function assertHarmless(root: unknown): void {
  const open: Visit[] = [{ value: root, path: '', depth: 0 }]
  let values = 0
  for (let visit = open.pop(); visit; visit = open.pop()) {
    if (visit.depth > MAX_DEPTH) throw new ServiceError('BAD_REQUEST', 'Request body is nested too deeply')
    if (typeof visit.value === 'string') assertText(visit.value, visit.path)
    if (visit.value === null || typeof visit.value !== 'object') continue
    const children = childrenOf(visit.value, visit)
    // Before they are pushed: half a million arguments would be too many for a call.
    values += children.length
    if (values > MAX_VALUES) throw new ServiceError('BAD_REQUEST', 'Request body has too many values')
    open.push(...children)
  }
}

function childrenOf(parent: object, { path, depth }: Visit): Visit[] {
  if (!Array.isArray(parent)) delete (parent as Record<string, unknown>)['__proto__']
  return Object.entries(parent).map(([key, value]) => {
    assertText(key, path)
    return { value, path: path === '' ? key : `${path}.${key}`, depth: depth + 1 }
  })
}

function assertText(text: string, path: string): void {
  if (text.includes('\0')) throw unusable(path, 'must not contain NUL characters')
  if (!text.isWellFormed()) throw unusable(path, 'must not contain lone surrogates')
}

function unusable(path: string, message: string): ServiceError {
  return validationFailed([{ path, code: 'INVALID_CHARACTERS', message }])
}
