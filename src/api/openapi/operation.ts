import type { TSchema } from '@sinclair/typebox'
import type { FastifySchema, RouteOptions } from 'fastify'
import type { ServiceErrorCode } from '../../domain/shared/service-error.ts'

/** Response headers that a route may declare; `document.ts` describes each of them once. */
export type DeclaredHeader = 'ETag' | 'Retry-After' | 'Set-Cookie' | 'Location' | 'Content-Disposition'

/** What the OpenAPI document says about a route and no validator needs. */
interface OperationDetails {
  description?: string
  /** The route's own error codes, besides those that `errorCodesOf` derives from its shape. */
  errors?: readonly ServiceErrorCode[]
  /** Headers of the responses with these statuses. */
  responseHeaders?: Record<number, readonly DeclaredHeader[]>
  /** Input that the handler reads itself: documented like a schema, but not validated by Fastify. */
  documented?: { querystring?: TSchema; body?: TSchema; headers?: TSchema }
  /** Overrides the credentials that the route's guards ask for. */
  security?: Record<string, readonly string[]>[]
}

declare module 'fastify' {
  interface FastifySchema extends Omit<OperationDetails, 'security' | 'description'> {}
}

type Tag =
  | 'auth'
  | 'posts'
  | 'analytics'
  | 'platforms'
  | 'notifications'
  | 'profile'
  | 'captions'
  | 'payments'
  | 'admin'
  | 'status'
  | 'health'

/**
 * The documentation part of a route schema, to be spread into `schema` of every route.
 * @param operationId unique over all routes; generated clients name their functions after it
 */
export function operation(tag: Tag, operationId: string, summary: string, details: OperationDetails = {}) {
  return { tags: [tag], operationId, summary, ...details }
}

/** The part of Fastify's route options that the documentation is derived from. */
export type DescribedRoute = Pick<RouteOptions, 'method' | 'url' | 'schema' | 'config'>

/** Security requirement of routes that need an admin. */
export const ADMIN_SECURITY = [{ bearer: ['admin'] }]

const BODY_ERRORS: ServiceErrorCode[] = [
  'VALIDATION_FAILED',
  'BAD_REQUEST',
  'REQUEST_TIMEOUT',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
]

/** Every error code that the route can answer with. Empty for a route that redirects whatever happens. */
export function deriveErrorCodes({ method, schema = {}, config, url }: DescribedRoute): ServiceErrorCode[] {
  if (isRedirect(schema)) return []
  const codesWhen = (condition: unknown, ...codes: ServiceErrorCode[]) => (condition ? codes : [])
  const credentials = listCredentials(schema)
  return [
    ...new Set<ServiceErrorCode>([
      ...codesWhen(![method].flat().every((name) => name === 'GET' || name === 'HEAD'), ...BODY_ERRORS),
      ...codesWhen(schema.querystring ?? schema.headers, 'VALIDATION_FAILED'),
      ...codesWhen(credentials.includes('bearer'), 'UNAUTHORIZED', 'ACCOUNT_DISABLED'),
      // A cookie alone is only taken from pages of the own origins.
      ...codesWhen(credentials.includes('refreshCookie') || requiresAdmin(schema), 'FORBIDDEN'),
      ...codesWhen(url.includes(':'), 'NOT_FOUND'),
      ...codesWhen(!config?.isUnlimited, 'RATE_LIMITED'),
      ...(schema.errors ?? []),
      'INTERNAL',
      'SERVICE_UNAVAILABLE',
    ]),
  ]
}

function listCredentials({ security = [] }: FastifySchema): string[] {
  return security.flatMap((requirement) => Object.keys(requirement))
}

function requiresAdmin({ security = [] }: FastifySchema): boolean {
  return security.some(({ bearer }) => bearer?.includes('admin'))
}

function isRedirect({ response }: FastifySchema): boolean {
  return typeof response === 'object' && response !== null && '302' in response
}
