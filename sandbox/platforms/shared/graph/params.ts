import type { Params } from '../params.ts'
import { badParameter, type GraphParams } from './graph.ts'

/** Lists are JSON, separated by commas, or `name[0]=`. */
export function graphParams({ text, list }: Params): GraphParams {
  return {
    get: text,
    list(name) {
      const indexed: string[] = []
      for (let one = text(`${name}[0]`); one !== undefined; one = text(`${name}[${indexed.length}]`)) indexed.push(one)
      if (indexed.length > 0) return indexed
      return list(name).flatMap((value) =>
        /^\s*\[/.test(value) ? jsonList(name, value) : value.split(',').filter(Boolean),
      )
    },
  }
}

function jsonList(name: string, value: string): string[] {
  try {
    return (JSON.parse(value) as unknown[]).map((one) => (typeof one === 'string' ? one : JSON.stringify(one)))
  } catch {
    throw badParameter(`Param ${name} must be an array.`)
  }
}
