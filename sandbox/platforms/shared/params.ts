import type { IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { RefusedCall } from './refused-call.ts'

export interface Params {
  text(name: string): string | undefined
  /** Returns the values of `name[]`, or of an array in JSON. */
  list(name: string): string[]
  file(name: string): File | undefined
  files: [name: string, file: File][]
  /** The fields of a form-encoded body, in order. */
  fields: [name: string, value: string][]
  /** The JSON body, unchanged. */
  json: unknown
}

/** Reads the parameters of a request: its query, and a body that is a form, multipart, or JSON. */
export async function readParams(request: IncomingMessage, url: URL, maxBodyBytes: number): Promise<Params> {
  const values = new Map<string, (string | File)[]>()
  const add = (name: string, value: string | File) => {
    const key = name.replace(/\[\]$/, '')
    values.set(key, [...(values.get(key) ?? []), value])
  }
  for (const [name, value] of url.searchParams) add(name, value)
  const body = request.method === 'GET' ? NO_BODY : await readBody(request, maxBodyBytes, add)
  const first = (name: string) => values.get(name)?.[0]
  return {
    text(name) {
      const value = first(name)
      return typeof value === 'string' ? value : undefined
    },
    list: (name) => (values.get(name) ?? []).filter((value) => typeof value === 'string'),
    file(name) {
      const value = first(name)
      return value instanceof File ? value : undefined
    },
    files: body.entries.filter((entry): entry is [string, File] => entry[1] instanceof File),
    fields: body.isForm ? (body.entries as [string, string][]) : [],
    json: body.json,
  }
}

interface Body {
  entries: [name: string, value: string | File][]
  isForm: boolean
  json: unknown
}

const NO_BODY: Body = { entries: [], isForm: false, json: undefined }

async function readBody(
  request: IncomingMessage,
  maxBytes: number,
  add: (name: string, value: string | File) => void,
): Promise<Body> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) refuse(413, 'Payload too large')
  const bytes = await buffer(request)
  const type = request.headers['content-type'] ?? ''
  try {
    if (type.startsWith('application/json')) {
      const json = JSON.parse(bytes.toString()) as object
      for (const [name, value] of Object.entries(json)) {
        for (const one of [value].flat()) if (one !== null) add(name, String(one))
      }
      return { ...NO_BODY, json }
    }
    if (type.startsWith('multipart/form-data') || type.startsWith('application/x-www-form-urlencoded')) {
      const form = await new Response(bytes, { headers: { 'content-type': type } }).formData()
      for (const [name, value] of form) add(name, value)
      return { ...NO_BODY, entries: [...form], isForm: !type.startsWith('multipart/') }
    }
    return NO_BODY
  } catch {
    return refuse(400, 'Bad Request')
  }
}

function refuse(status: number, error: string): never {
  throw new RefusedCall({ status, body: { error } })
}
