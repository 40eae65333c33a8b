import type { TSchema } from '@sinclair/typebox'
import type { FastifySchema, RouteOptions } from 'fastify'
import type { RouteScope } from '../../domain/users/api-keys.ts'
import type { ServiceErrorCode } from '../../domain/shared/service-error.ts'

/** Response headers that a route may declare; `document.ts` describes each of them once. */
export type DeclaredHeader = 'ETag' | 'Retry-After' | 'Set-Cookie' | 'Location' | 'Content-Disposition'

/** Facts about a route for the OpenAPI document. The guard reads `keyScope` as well. */
interface OperationDetails {
  description?: string
  /** The route's own error codes, besides those that `deriveErrorCodes` derives from its shape. */
  errors?: readonly ServiceErrorCode[]
  /** Headers of the responses with these statuses. */
  responseHeaders?: Record<number, readonly DeclaredHeader[]>
  /** Input that the handler parses itself: documented like a schema, but not validated by Fastify. */
  documented?: { querystring?: TSchema; body?: TSchema; headers?: TSchema }
  /**
   * The scope with which an API key may use the route, `any`, or `refused`. Every route for users declares one of them; without it the
   * guard refuses keys.
   */
  keyScope?: RouteScope
  /** Overrides the credentials that the guards of the route require. */
  security?: Record<string, readonly string[]>[]
}

declare module 'fastify' {
  interface FastifySchema extends Omit<OperationDetails, 'security' | 'description'> {}
}

type Tag =
  | 'auth'
  | 'keys'
  | 'posts'
  | 'imports'
  | 'analytics'
  | 'platforms'
  | 'groups'
  | 'slots'
  | 'events'
  | 'notifications'
  | 'webhooks'
  | 'profile'
  | 'captions'
  | 'payments'
  | 'admin'
  | 'status'
  | 'health'

/**
 * Returns the documentation part of a route schema. Every route spreads it into its `schema`.
 * @param operationId unique across all routes; generated clients name their functions after it
 */
export function operation(tag: Tag, operationId: string, summary: string, details: OperationDetails = {}) {
  return { tags: [tag], operationId, summary, ...details }
}

/** The route options from which the documentation is derived. */
export type DescribedRoute = Pick<RouteOptions, 'method' | 'url' | 'schema' | 'config'>

/** Security requirement of admin routes. */
export const ADMIN_SECURITY = [{ bearer: ['admin'] }]

/** Returns the security requirement of a route for users: an access token, or an API key with the scope of the route. */
export function toUserSecurity({ keyScope = 'refused' }: Pick<FastifySchema, 'keyScope'>) {
  return [{ bearer: [] }, ...(keyScope === 'refused' ? [] : [{ apiKey: keyScope === 'any' ? [] : [keyScope] }])]
}

const BODY_ERRORS: ServiceErrorCode[] = [
  'VALIDATION_FAILED',
  'BAD_REQUEST',
  'REQUEST_TIMEOUT',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
]

/** Returns every error code that the route can return. Empty for routes that always redirect. */
export function deriveErrorCodes({ method, schema = {}, config, url }: DescribedRoute): ServiceErrorCode[] {
  if (isRedirect(schema)) return []
  const codesWhen = (condition: unknown, ...codes: ServiceErrorCode[]) => (condition ? codes : [])
  const credentials = listCredentials(schema)
  return [
    ...new Set<ServiceErrorCode>([
      ...codesWhen(![method].flat().every((name) => name === 'GET' || name === 'HEAD'), ...BODY_ERRORS),
      ...codesWhen(schema.querystring ?? schema.headers, 'VALIDATION_FAILED'),
      ...codesWhen(credentials.includes('bearer'), 'UNAUTHORIZED', 'ACCOUNT_DISABLED'),
      ...codesWhen(schema.keyScope === 'refused', 'SESSION_REQUIRED'),
      ...codesWhen(credentials.includes('apiKey') && schema.keyScope !== 'any', 'INSUFFICIENT_SCOPE'),
      // The API accepts a cookie alone only from its own origins.
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
