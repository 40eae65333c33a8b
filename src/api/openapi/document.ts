import { STATUS_CODES } from 'node:http'
import { toHttpStatus, type ServiceErrorCode } from '../../domain/shared/service-error.ts'
import { deriveErrorCodes, type DeclaredHeader, type DescribedRoute } from './operation.ts'

/** A part of an OpenAPI 3.1 document. */
type DocumentNode = Record<string, unknown>

/** Descriptions of all response headers, by header name. */
export const HEADERS: Record<
  DeclaredHeader | 'RateLimit' | 'RateLimit-Policy' | 'X-Request-Id' | 'WWW-Authenticate',
  DocumentNode
> = {
  'X-Request-Id': toTextHeader('Identifies the request in the logs of the service'),
  RateLimit: toTextHeader(
    'Remaining requests of each limit: `"user";r=299;t=60` means 299 requests in the next 60 seconds',
  ),
  'RateLimit-Policy': toTextHeader(
    'Limits that count this request: `"user";q=300;w=60` means 300 requests in 60 seconds',
  ),
  'Retry-After': {
    ...toTextHeader('Seconds to wait before the next request'),
    schema: { type: 'integer', minimum: 0 },
  },
  ETag: toTextHeader('Version of the response, for `If-None-Match` or `If-Match`'),
  'WWW-Authenticate': toTextHeader('The authentication scheme'),
  'Set-Cookie': toTextHeader('Sets or clears a cookie that only the API reads'),
  Location: { ...toTextHeader('URL where the browser continues'), schema: { type: 'string', format: 'uri' } },
  'Content-Disposition': toTextHeader('The file name of a download'),
}

/** Additional headers of responses by status. */
const HEADERS_BY_STATUS: Record<number, (keyof typeof HEADERS)[]> = {
  302: ['Location'],
  401: ['WWW-Authenticate'],
  429: ['Retry-After'],
  503: ['Retry-After'],
}

/** Temporary extension that passes route facts from `toDocumentedRoute` to `finishDocument`, which removes it. */
const ROUTE_FACTS = 'x-route'

interface RouteFacts {
  errors: ServiceErrorCode[]
  responseHeaders: Record<number, readonly DeclaredHeader[]>
  isLimited: boolean
}

/**
 * Converts the schema of a route for the document. Fields with a default are optional for the sender: Ajv adds defaults before it
 * checks required fields. Bodies mention defaults only in descriptions, because client generators treat properties with a
 * default as always present.
 */
export function toDocumentedRoute({
  route,
  ...given
}: {
  schema: DescribedRoute['schema']
  url: string
  route: DescribedRoute
}) {
  const {
    response,
    documented,
    responseHeaders = {},
    errors: _errors,
    keyScope: _keyScope,
    ...schema
  } = given.schema ?? {}
  const statuses = Object.entries((response ?? {}) as DocumentNode).filter(([status]) => /^\d+$/.test(status))
  const facts: RouteFacts = { errors: deriveErrorCodes(route), responseHeaders, isLimited: !route.config?.isUnlimited }
  return {
    url: given.url,
    schema: {
      ...schema,
      ...documented,
      ...withOptionalDefaults({ ...schema, ...documented }),
      security: schema.security ?? [],
      response: Object.fromEntries(statuses),
      [ROUTE_FACTS]: facts,
    },
  }
}

function withOptionalDefaults(schema: DocumentNode): DocumentNode {
  const parts = ['querystring', 'body', 'headers'].filter((part) => schema[part])
  const optional: DocumentNode = Object.fromEntries(
    parts.map((part) => [part, optionalDefaults(schema[part] as DocumentNode)]),
  )
  return { ...optional, ...(optional['body'] ? { body: withoutDefaults(optional['body'] as DocumentNode) } : {}) }
}

function withoutDefaults(schema: DocumentNode): DocumentNode {
  const properties = schema['properties'] as Record<string, DocumentNode> | undefined
  if (!properties) return schema
  const documented = Object.entries(properties).map(([name, { default: _, ...property }]) => [name, property])
  return { ...schema, properties: Object.fromEntries(documented) }
}

function optionalDefaults(schema: DocumentNode): DocumentNode {
  const { properties, required } = schema as { properties?: Record<string, DocumentNode>; required?: string[] }
  if (!properties || !required) return schema
  const needed = required.filter((name) => !('default' in properties[name]!))
  const { required: _, ...rest } = schema
  return { ...rest, ...(needed.length > 0 && { required: needed }) }
}

/** Completes the responses of every operation, and moves named schemas and shared responses into `components`. */
export function finishDocument(document: object): DocumentNode {
  const openapiObject = (document as { openapiObject: DocumentNode }).openapiObject
  const components = openapiObject['components'] as Record<string, DocumentNode>
  const responses: DocumentNode = {}
  for (const path of Object.values(openapiObject['paths'] as Record<string, Record<string, DocumentNode>>)) {
    for (const operation of Object.values(path)) {
      const { [ROUTE_FACTS]: facts, ...rest } = operation
      Object.assign(rest, {
        ...toOptionalBody(rest),
        responses: describeResponses(rest['responses'] as Record<string, DocumentNode>, facts as RouteFacts, responses),
      })
      delete operation[ROUTE_FACTS]
      Object.assign(operation, rest)
    }
  }
  const named: Record<string, DocumentNode> = {}
  const paths = hoistNamed(openapiObject['paths'], named)
  const schemas = Object.entries(components['schemas'] ?? {}).map(([name, schema]) => [name, hoistNamed(schema, named)])
  return {
    ...openapiObject,
    paths,
    components: {
      ...components,
      headers: HEADERS,
      responses: sortByName(responses),
      schemas: sortByName({ ...Object.fromEntries(schemas), ...named }),
    },
  }
}

/** Converts a nullable body to an optional one with the object schema alone. */
function toOptionalBody({ requestBody }: DocumentNode): DocumentNode {
  const schema = (requestBody as { content: Record<string, { schema: DocumentNode }> } | undefined)?.content[
    'application/json'
  ]?.schema
  const forms = schema?.['anyOf'] as DocumentNode[] | undefined
  if (!forms?.some(({ type }) => type === 'null')) return {}
  const [body] = forms.filter(({ type }) => type !== 'null')
  return { requestBody: { required: false, content: { 'application/json': { schema: body } } } }
}

function describeResponses(given: Record<string, DocumentNode>, facts: RouteFacts, shared: DocumentNode): DocumentNode {
  const successes = Object.entries(given).map(([status, response]) => [
    status,
    {
      ...response,
      description: response['description'] === 'Default Response' ? STATUS_CODES[status] : response['description'],
      headers: toHeaderReferences(Number(status), facts),
    },
  ])
  const codes = Map.groupBy(facts.errors, toHttpStatus)
  const failures = [...codes].map(([status, errors]) => [
    status,
    describeErrors(status, { ...facts, errors }, { shared, own: given[status] }),
  ])
  return Object.fromEntries([...successes, ...failures])
}

/**
 * Describes an error response. A response with a single code is the same on every route and becomes a shared component, unless the
 * route has a schema of its own for it.
 */
function describeErrors(
  status: number,
  facts: RouteFacts,
  { shared, own }: { shared: DocumentNode; own: DocumentNode | undefined },
): DocumentNode {
  const { errors } = facts
  const body = (own?.['content'] as Record<string, DocumentNode> | undefined)?.['application/json']?.['schema']
  const response = {
    description: errors.map((code) => `\`${code}\``).join(', '),
    headers: toHeaderReferences(status, facts),
    content: {
      'application/json': {
        schema: {
          allOf: [
            body ?? { $ref: '#/components/schemas/Error' },
            {
              type: 'object',
              properties: { code: { type: 'string', enum: errors }, statusCode: { type: 'integer', enum: [status] } },
            },
          ],
        },
      },
    },
  }
  if (own || errors.length > 1 || !facts.isLimited) return response
  const name = errors[0]!.toLowerCase().replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())
  shared[name] = response
  return { $ref: `#/components/responses/${name}` }
}

function toHeaderReferences(status: number, { responseHeaders, isLimited }: RouteFacts): DocumentNode {
  const names = [
    'X-Request-Id',
    ...(isLimited ? ['RateLimit', 'RateLimit-Policy'] : []),
    ...(HEADERS_BY_STATUS[status] ?? []),
    ...(responseHeaders[status] ?? []),
  ]
  return Object.fromEntries([...new Set(names)].map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

/** The values of these keys are data, not schemas. */
const DATA = new Set(['example', 'examples', 'default', 'enum', 'const'])

/**
 * Replaces every schema with a title by a reference and collects the schema in `named`.
 * @throws Error when two different schemas have one title
 */
function hoistNamed(value: unknown, named: Record<string, DocumentNode>): unknown {
  if (Array.isArray(value)) return value.map((item) => hoistNamed(item, named))
  if (typeof value !== 'object' || value === null) return value
  const { title, ...node } = Object.fromEntries(
    Object.entries(value).map(([key, part]) => [key, DATA.has(key) ? part : hoistNamed(part, named)]),
  )
  if (typeof title !== 'string') return title === undefined ? node : { title, ...node }
  const known = named[title]
  if (known && !isEqual(known, node)) throw new Error(`Two different schemas are called ${title}`)
  // Parameters repeat the description of their schema.
  if (!known?.['description']) named[title] = node
  return { $ref: `#/components/schemas/${title}` }
}

function isEqual({ description: _a, ...a }: DocumentNode, { description: _b, ...b }: DocumentNode): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

function sortByName(entries: DocumentNode): DocumentNode {
  return Object.fromEntries(Object.entries(entries).sort(([a], [b]) => a.localeCompare(b, 'en')))
}

function toTextHeader(description: string): DocumentNode {
  return { description, schema: { type: 'string' } }
}
