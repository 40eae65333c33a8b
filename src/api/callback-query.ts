/** What another site sent along to a callback. Null when a parameter came twice: two readers could take one each. */
export function parametersOf(query: unknown): Record<string, string> | null {
  const parameters: Record<string, string> = {}
  for (const [name, value] of Object.entries(query as Record<string, unknown>)) {
    if (typeof value !== 'string') return null
    parameters[name] = value
  }
  return parameters
}
