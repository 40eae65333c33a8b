import { Ajv, type Options } from 'ajv'
import addFormats from 'ajv-formats'
import type { FastifyInstance, FastifySchemaValidationError } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { isMailAddress } from '../../domain/users/mail-addresses.ts'
import { isInstant } from '../../domain/shared/timezones.ts'

/** Reports all problems together, adds defaults and drops unknown fields, but never coerces types. */
const REQUEST_OPTIONS: Options = {
  allErrors: true,
  useDefaults: true,
  removeAdditional: 'all',
  allowUnionTypes: true,
  strictTypes: false,
}
/** Other code also reads the headers, so validation must not remove any. */
const HEADER_OPTIONS: Options = { allErrors: true, useDefaults: false, strictTypes: false }

const INTEGER = /^-?\d+$/
const DECIMAL = /^-?\d{1,15}(\.\d{1,15})?$/

/**
 * Validates requests against the route schemas. Fastify's default validator would coerce types: `"true"` to a boolean, null to an
 * empty string. Query values are always text, so numbers and booleans in queries are parsed, strictly.
 */
export const validation = fastifyPlugin(
  async (app: FastifyInstance) => {
    const request = createRequestAjv()
    const header = createAjv(HEADER_OPTIONS)

    app.setValidatorCompiler<Schema>(({ schema, httpPart }) => {
      const validate = (httpPart === 'headers' ? header : request).compile(schema)
      if (httpPart !== 'querystring') return validate
      return (query: Record<string, unknown>) => {
        const problems = findNullCharacters(query)
        if (problems.length > 0) return { error: problems }
        parseScalars(schema, query)
        return validate(query) ? { value: query } : { error: validate.errors ?? [] }
      }
    })
  },
  { name: 'validation', fastify: '5.x' },
)

interface Schema {
  type?: string
  properties?: Record<string, Schema>
}

/** Creates the validator of request bodies, for routes that read their body themselves. */
export function createRequestAjv(): Ajv {
  return createAjv(REQUEST_OPTIONS)
}

function createAjv(options: Options): Ajv {
  const ajv = new Ajv(options)
  addFormats.default(ajv)
  ajv.addFormat('email', isMailAddress)
  // The library's own format accepts leap seconds and offsets without minutes, which `Date` cannot represent.
  ajv.addFormat('date-time', isInstant)
  return ajv
}

function parseScalars(schema: Schema, query: Record<string, unknown>): void {
  for (const [name, { type }] of Object.entries(schema.properties ?? {})) {
    const text = query[name]
    if (text !== undefined && type === 'array') query[name] = [text].flat().flatMap(splitList)
    else if (typeof text === 'string') query[name] = parseScalar(type, text)
  }
}

/** Splits a list value: list parameters may be repeated, separated by commas, or both. */
function splitList(part: unknown): unknown[] {
  return typeof part === 'string' ? part.split(',') : [part]
}

/** Parses text as a value of the type. Returns the text itself when it does not match; the schema then rejects it. */
function parseScalar(type: string | undefined, text: string): unknown {
  if (type === 'integer' && INTEGER.test(text)) return Number(text)
  if (type === 'number' && DECIMAL.test(text)) return Number(text)
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true'
  return text
}

function findNullCharacters(query: Record<string, unknown>): FastifySchemaValidationError[] {
  return Object.entries(query)
    .filter(([, value]) => [value].flat().some((text) => typeof text === 'string' && text.includes('\0')))
    .map(([name]) => ({
      keyword: 'characters',
      instancePath: `/${name}`,
      schemaPath: '#',
      params: {},
    }))
}
