import { badParameter, type GraphNode } from './graph.ts'

interface FieldRequest {
  name: string
  /** The fields in the braces after it. */
  fields: FieldRequest[]
}

/**
 * Selects the fields of a node that `fields` lists; `id` is always included. Braces select inside objects and lists;
 * modifiers such as `.type(large)` or `.limit(0).summary(total_count)` are ignored.
 * @throws GraphRefusal when there is no such field
 */
export function selectFields(node: GraphNode, fields: string | undefined): Record<string, unknown> {
  const requests: FieldRequest[] =
    fields === undefined ? node.byDefault.map((name) => ({ name, fields: [] })) : parseFields(fields)
  const found: Record<string, unknown> = {}
  for (const { name, fields } of [...requests, { name: 'id', fields: [] }]) {
    if (!(name in node.fields)) {
      throw badParameter(`Tried accessing nonexisting field (${name}) on node type (${node.type})`)
    }
    const value = valueOf(node.fields[name])
    if (value !== null && value !== undefined) found[name] = within(value, fields)
  }
  return found
}

function valueOf(field: unknown): unknown {
  return typeof field === 'function' ? (field as () => unknown)() : field
}

/** Selects the fields in the braces, if they exist. */
function within(value: unknown, fields: FieldRequest[]): unknown {
  if (fields.length === 0) return value
  if (Array.isArray(value)) return value.map((one) => within(one, fields))
  if (typeof value !== 'object' || value === null) return value
  const record = value as Record<string, unknown>
  // For lists and pictures.
  if ('data' in record) return { ...record, data: within(record['data'], fields) }
  const names = fields.filter(({ name }) => valueOf(record[name]) !== undefined)
  return Object.fromEntries(names.map(({ name, fields: inner }) => [name, within(valueOf(record[name]), inner)]))
}

/** `id,attachments{media_type,target{id}},comments.limit(0).summary(true)` */
function parseFields(text: string): FieldRequest[] {
  let at = 0

  function list(): FieldRequest[] {
    const requests: FieldRequest[] = []
    for (;;) {
      const name = /^\s*\w+/.exec(text.slice(at))?.[0]
      if (name === undefined) throw badParameter(`Syntax error "Expected name" at character ${at}: ${text}`)
      at += name.length
      for (;;) {
        const modifier = /^\.\w+\([^()]*\)/.exec(text.slice(at))?.[0]
        if (modifier === undefined) break
        at += modifier.length
      }
      let fields: FieldRequest[] = []
      if (text[at] === '{') {
        at += 1
        fields = list()
        if (text[at] !== '}') throw badParameter(`Syntax error "Expected end of braces" at character ${at}: ${text}`)
        at += 1
      }
      requests.push({ name: name.trim(), fields })
      if (text[at] !== ',') return requests
      at += 1
    }
  }

  const requests = list()
  if (at < text.length) throw badParameter(`Syntax error "Expected end of string" at character ${at}: ${text}`)
  return requests
}
