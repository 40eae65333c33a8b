import { refused } from './errors.ts'

/** Replaces ids by objects at each path; `data` passes through a list. */
export function expand(object: object, paths: string[], byId: (id: string) => object | null): object {
  return paths.reduce((expanded, path) => expandPath(expanded, path.split('.'), path, byId) as object, object)
}

function expandPath(value: unknown, keys: string[], path: string, byId: (id: string) => object | null): unknown {
  if (Array.isArray(value)) return value.map((one) => expandPath(one, keys, path, byId))
  const [key, ...deeper] = keys
  if (value === null) return null
  const inside = typeof value === 'string' ? byId(value) : value
  if (typeof inside !== 'object' || inside === null) throw notExpandable(path)
  if (key === undefined) return inside
  return { ...inside, [key]: expandPath((inside as Record<string, unknown>)[key], deeper, path, byId) }
}

function notExpandable(path: string) {
  return refused(400, { message: `This property cannot be expanded (${path}).` })
}
