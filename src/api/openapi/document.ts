import { STATUS_CODES } from 'node:http'
import { toHttpStatus, type ServiceErrorCode } from '../../domain/shared/service-error.ts'
import { errorCodesOf, type DeclaredHeader, type DescribedRoute } from './operation.ts'

/** A piece of the document; its shape is that of OpenAPI 3.1. */
type Node = Record<string, unknown>

/** Response headers, by the name under which `components.headers` describes them. */
export const HEADERS: Record<
  DeclaredHeader | 'RateLimit' | 'RateLimit-Policy' | 'X-Request-Id' | 'WWW-Authenticate',
  Node
> = {
  'X-Request-Id': text('Identifies the request in the logs of the service'),
  RateLimit: text('What is left of each limit: `"user";r=299;t=60` is 299 requests in the next 60 seconds'),
  'RateLimit-Policy': text('The limits that count this request: `"user";q=300;w=60` is 300 requests in 60 seconds'),
  'Retry-After': { ...text('Seconds to wait before the next request'), schema: { type: 'integer', minimum: 0 } },
  ETag: text('Version of the response, to be sent back as `If-None-Match`'),
  'WWW-Authenticate': text('The scheme to authenticate with'),
  'Set-Cookie': text('Sets or clears a cookie that only the API reads'),
  Location: { ...text('Where the browser continues'), schema: { type: 'string', format: 'uri' } },
  'Content-Disposition': text('The file name of a download'),
}

/** Statuses whose error responses carry one more header. */
const HEADERS_BY_STATUS: Record<number, (keyof typeof HEADERS)[]> = {
  302: ['Location'],
  401: ['WWW-Authenticate'],
  429: ['Retry-After'],
  503: ['Retry-After'],
}

/** Extension under which a route's facts travel from `toDocumented` to `finishDocument`, which removes it. */
const FACTS = 'x-route'

interface Facts {
  errors: ServiceErrorCode[]
  responseHeaders: Record<number, readonly DeclaredHeader[]>
  isLimited: boolean
}

/**
 * The schema of a route as the document shows it. Fields with a default are optional for the sender: Fastify's validator fills
 * them in before it asks whether they are there. In bodies the default itself is left to the description, because generators
 * take a property with a default for one that is always there.
 */
export function toDocumented({
  route,
  ...given
}: {
  schema: DescribedRoute['schema']
  url: string
  route: DescribedRoute
}) {
  const { response, documented, responseHeaders = {}, errors: _, ...schema } = given.schema ?? {}
  const statuses = Object.entries((response ?? {}) as Node).filter(([status]) => /^\d+$/.test(status))
  const facts: Facts = { errors: errorCodesOf(route), responseHeaders, isLimited: !route.config?.isUnlimited }
  return {
    url: given.url,
    schema: {
      ...schema,
      ...documented,
      ...withOptionalDefaults({ ...schema, ...documented }),
      security: schema.security ?? [],
      response: Object.fromEntries(statuses),
      [FACTS]: facts,
    },
  }
}

function withOptionalDefaults(schema: Node): Node {
  const parts = ['querystring', 'body', 'headers'].filter((part) => schema[part])
  const optional: Node = Object.fromEntries(parts.map((part) => [part, optionalDefaults(schema[part] as Node)]))
  return { ...optional, ...(optional['body'] ? { body: withoutDefaults(optional['body'] as Node) } : {}) }
}

function withoutDefaults(schema: Node): Node {
  const properties = schema['properties'] as Record<string, Node> | undefined
  if (!properties) return schema
  const documented = Object.entries(properties).map(([name, { default: _, ...property }]) => [name, property])
  return { ...schema, properties: Object.fromEntries(documented) }
}

function optionalDefaults(schema: Node): Node {
  const { properties, required } = schema as { properties?: Record<string, Node>; required?: string[] }
  if (!properties || !required) return schema
  const needed = required.filter((name) => !('default' in properties[name]!))
  const { required: _, ...rest } = schema
  return { ...rest, ...(needed.length > 0 && { required: needed }) }
}

/** Completes the responses of every operation, and moves named schemas and shared responses into `components`. */
export function finishDocument(document: object): Node {
  const openapiObject = (document as { openapiObject: Node }).openapiObject
  const components = openapiObject['components'] as Record<string, Node>
  const responses: Node = {}
  for (const path of Object.values(openapiObject['paths'] as Record<string, Record<string, Node>>)) {
    for (const operation of Object.values(path)) {
      const { [FACTS]: facts, ...rest } = operation
      Object.assign(rest, {
        ...optionalBody(rest),
        responses: allResponses(rest['responses'] as Record<string, Node>, facts as Facts, responses),
      })
      delete operation[FACTS]
      Object.assign(operation, rest)
    }
  }
  const named: Record<string, Node> = {}
  const paths = hoistNamed(openapiObject['paths'], named)
  const schemas = Object.entries(components['schemas'] ?? {}).map(([name, schema]) => [name, hoistNamed(schema, named)])
  return {
    ...openapiObject,
    paths,
    components: {
      ...components,
      headers: HEADERS,
      responses: byName(responses),
      schemas: byName({ ...Object.fromEntries(schemas), ...named }),
    },
  }
}

/** A body that may be null may be left out; as a schema it is then the object alone. */
function optionalBody({ requestBody }: Node): Node {
  const schema = (requestBody as { content: Record<string, { schema: Node }> } | undefined)?.content['application/json']
    ?.schema
  const forms = schema?.['anyOf'] as Node[] | undefined
  if (!forms?.some(({ type }) => type === 'null')) return {}
  const [body] = forms.filter(({ type }) => type !== 'null')
  return { requestBody: { required: false, content: { 'application/json': { schema: body } } } }
}

function allResponses(given: Record<string, Node>, facts: Facts, shared: Node): Node {
  const successes = Object.entries(given).map(([status, response]) => [
    status,
    {
      ...response,
      description: response['description'] === 'Default Response' ? STATUS_CODES[status] : response['description'],
      headers: headersOf(Number(status), facts),
    },
  ])
  const codes = Map.groupBy(facts.errors, toHttpStatus)
  const failures = [...codes].map(([status, errors]) => [status, errorResponse(status, { ...facts, errors }, shared)])
  return Object.fromEntries([...successes, ...failures])
}

/** One code alone means the same on every route, so such a response is shared. */
function errorResponse(status: number, facts: Facts, shared: Node): Node {
  const { errors } = facts
  const response = {
    description: errors.map((code) => `\`${code}\``).join(', '),
    headers: headersOf(status, facts),
    content: {
      'application/json': {
        schema: {
          allOf: [
            { $ref: '#/components/schemas/Error' },
            {
              type: 'object',
              properties: { code: { type: 'string', enum: errors }, statusCode: { type: 'integer', enum: [status] } },
            },
          ],
        },
      },
    },
  }
  if (errors.length > 1 || !facts.isLimited) return response
  const name = errors[0]!.toLowerCase().replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())
  shared[name] = response
  return { $ref: `#/components/responses/${name}` }
}

function headersOf(status: number, { responseHeaders, isLimited }: Facts): Node {
  const names = [
    'X-Request-Id',
    ...(isLimited ? ['RateLimit', 'RateLimit-Policy'] : []),
    ...(HEADERS_BY_STATUS[status] ?? []),
    ...(responseHeaders[status] ?? []),
  ]
  return Object.fromEntries([...new Set(names)].map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

/** Values of these keys are data and no schemas. */
const DATA = new Set(['example', 'examples', 'default', 'enum', 'const'])

/**
 * Replaces every schema that has a title by a reference to it, and collects it in `named`.
 * @throws Error when two different schemas have one title
 */
function hoistNamed(value: unknown, named: Record<string, Node>): unknown {
  if (Array.isArray(value)) return value.map((item) => hoistNamed(item, named))
  if (typeof value !== 'object' || value === null) return value
  const { title, ...node } = Object.fromEntries(
    Object.entries(value).map(([key, part]) => [key, DATA.has(key) ? part : hoistNamed(part, named)]),
  )
  if (typeof title !== 'string') return title === undefined ? node : { title, ...node }
  const known = named[title]
  if (known && !isEqual(known, node)) throw new Error(`Two different schemas are called ${title}`)
  // Parameters carry the description of their schema themselves.
  if (!known?.['description']) named[title] = node
  return { $ref: `#/components/schemas/${title}` }
}

function isEqual({ description: _a, ...a }: Node, { description: _b, ...b }: Node): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

function byName(entries: Node): Node {
  return Object.fromEntries(Object.entries(entries).sort(([a], [b]) => a.localeCompare(b, 'en')))
}

function text(description: string): Node {
  return { description, schema: { type: 'string' } }
}
