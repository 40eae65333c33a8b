import { Type } from '@sinclair/typebox'

/** The query of an OAuth callback, only for the OpenAPI document; `parseCallbackQuery` reads the values. */
export const CallbackQuery = Type.Object({
  state: Type.Optional(Type.String({ description: 'Identifies the attempt' })),
  code: Type.Optional(Type.String({ description: 'The authorization code; present when the user agreed' })),
  error: Type.Optional(Type.String({ description: 'The reason why there is no code' })),
})

/** Parses the query of an OAuth callback. Returns null when a parameter appears twice: two parsers could each pick another one. */
export function parseCallbackQuery(query: unknown): Record<string, string> | null {
  const parameters: Record<string, string> = {}
  for (const [name, value] of Object.entries(query as Record<string, unknown>)) {
    if (typeof value !== 'string') return null
    parameters[name] = value
  }
  return parameters
}
