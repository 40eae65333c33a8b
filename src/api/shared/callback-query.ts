import { Type } from '@sinclair/typebox'

/** What another site sends along to a callback, for the document; `parametersOf` reads it. */
export const CallbackQuery = Type.Object({
  state: Type.Optional(Type.String({ description: 'Names the attempt that was begun here' })),
  code: Type.Optional(Type.String({ description: 'The authorization code, when the user agreed' })),
  error: Type.Optional(Type.String({ description: 'Why there is no code' })),
})

/** What another site sent along to a callback. Null when a parameter came twice: two readers could take one each. */
export function parseCallbackQuery(query: unknown): Record<string, string> | null {
  const parameters: Record<string, string> = {}
  for (const [name, value] of Object.entries(query as Record<string, unknown>)) {
    if (typeof value !== 'string') return null
    parameters[name] = value
  }
  return parameters
}
