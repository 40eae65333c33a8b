import type { Static, TSchema } from '@sinclair/typebox'
import { Value, ValueErrorType, type ValueError } from '@sinclair/typebox/value'
import { refused } from './errors.ts'

/** Parses form fields with nested names (`metadata[userId]`, `expand[0]`) into an object. */
export function nest(fields: Iterable<[name: string, value: string]>): unknown {
  const root: Branch = new Map()
  for (const [name, value] of fields) {
    const [, first = name, rest = ''] = /^([^[\]]+)((?:\[[^[\]]*\])*)$/.exec(name) ?? []
    const keys = [first, ...[...rest.matchAll(/\[([^[\]]*)\]/g)].map(([, key]) => key!)]
    put(root, keys, value)
  }
  return toPlainValue(root)
}

type Branch = Map<string, string | Branch>

function put(branch: Branch, [key = '', ...deeper]: string[], value: string): void {
  const own = key === '' ? String(branch.size) : key
  if (deeper.length === 0) {
    branch.set(own, value)
    return
  }
  const there = branch.get(own)
  const below: Branch = there instanceof Map ? there : new Map()
  branch.set(own, below)
  put(below, deeper, value)
}

function toPlainValue(branch: string | Branch): unknown {
  if (typeof branch === 'string') return branch
  const isList = branch.size > 0 && [...branch.keys()].every((key) => /^\d+$/.test(key))
  if (isList) return [...branch.values()].map(toPlainValue)
  return Object.fromEntries([...branch].map(([key, below]) => [key, toPlainValue(below)]))
}

/** Validates like the real API: unknown parameters are refused by name. */
export function readAs<T extends TSchema>(schema: T, given: unknown): Static<T> {
  const values = Value.Convert(schema, given)
  const error = Value.Errors(schema, values).First()
  if (error) throw problemOf(error)
  return values
}

function problemOf(error: ValueError) {
  const [first = '', ...deeper] = error.path.slice(1).split('/')
  const param = [first, ...deeper.map((key) => `[${key}]`)].join('')
  if (error.type === ValueErrorType.ObjectAdditionalProperties) {
    return refused(400, { code: 'parameter_unknown', message: `Received unknown parameter: ${param}`, param })
  }
  if (error.type === ValueErrorType.ObjectRequiredProperty || error.value === undefined) {
    return refused(400, { code: 'parameter_missing', message: `Missing required param: ${param}.`, param })
  }
  if (error.value === '') {
    const message = `You passed an empty string for '${param}'.`
    return refused(400, { code: 'parameter_invalid_empty', message, param })
  }
  return refused(400, { message: `Invalid ${param}: ${error.message}`, param })
}
