import type { Static, TObject, TProperties, TSchema } from '@sinclair/typebox'
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

/**
 * Creates a parser of an object in a list, so that a malformed one does not make the whole list unreadable. It leaves out malformed
 * optional fields, and returns `null` without a required one.
 */
export function elementReader<P extends TProperties>(
  schema: TObject<P>,
): (value: unknown) => Static<TObject<P>> | null {
  const fields = Object.entries(schema.properties).map(([name, field]) => [name, TypeCompiler.Compile(field)] as const)
  const whole = TypeCompiler.Compile(schema)
  return (value) => {
    if (typeof value !== 'object' || value === null) return null
    const given = value as Record<string, unknown>
    const valid = Object.fromEntries(
      fields.filter(([name, field]) => field.Check(given[name])).map(([name]) => [name, given[name]]),
    )
    return whole.Check(valid) ? valid : null
  }
}

/** The text that was parsed last. Several readers check a refusal one after the other, and each parse may take 30 ms. */
let parsed: { text: string; value: unknown } = { text: '', value: undefined }

function parseJson(text: string): unknown {
  if (text === parsed.text) return parsed.value
  try {
    parsed = { text, value: JSON.parse(text) as unknown }
  } catch {
    parsed = { text, value: undefined }
  }
  return parsed.value
}
