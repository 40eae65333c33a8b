import type { Static, TSchema } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'

/**
 * Creates a parser of response bodies. It returns `null` for invalid JSON or another shape; additional fields are
 * allowed.
 */
export function responseReader<T extends TSchema>(schema: T): (text: string) => Static<T> | null {
  const compiled = TypeCompiler.Compile(schema)
  return (text) => {
    const value = parseJson(text)
    return compiled.Check(value) ? value : null
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
