/** An operation of the OpenAPI document. */
export interface Operation {
  method: string
  /** With an id that no record has. */
  path: string
  /** The content types that it takes. */
  types: string[]
  /** The parameters of its query. */
  query: string[]
  isAnonymous: boolean
  /** The statuses of its responses. */
  statuses: string[]
}

interface OpenApi {
  paths: Record<string, Record<string, DocumentedOperation>>
}

interface DocumentedOperation {
  requestBody?: { content: Record<string, unknown> }
  parameters?: { in: string; name: string }[]
  security?: Record<string, unknown>[]
  responses: Record<string, unknown>
}

/** Returns the operations of the document of a running API. */
export async function listOperations(baseUrl: string): Promise<Operation[]> {
  const { paths } = (await (await fetch(`${baseUrl}/api/openapi.json`)).json()) as OpenApi
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { requestBody, parameters = [], security = [], responses }]) => ({
      method: method.toUpperCase(),
      path: path.replaceAll(/\{\w+\}/g, '0'.repeat(24)),
      types: Object.keys(requestBody?.content ?? {}),
      query: parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name),
      isAnonymous: security.length === 0 || security.some((one) => Object.keys(one).length === 0),
      statuses: Object.keys(responses),
    })),
  )
}
