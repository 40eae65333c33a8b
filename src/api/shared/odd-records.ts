import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import fastifyPlugin from 'fastify-plugin'

type Log = Pick<FastifyBaseLogger, 'error'>

/** Converts the records of a list for clients. A record that cannot be converted is logged and left out, so that it does not hide the others. */
export function presentAll<T, Presented>(
  records: readonly T[],
  present: (record: T) => Presented,
  log: Log,
): Presented[] {
  return records.flatMap((record) => {
    try {
      return [present(record)]
    } catch (error) {
      logOdd(log, error, record)
      return []
    }
  })
}

/** Converts records like `presentAll`, while they are read. */
export async function* presentEach<T, Presented>(
  records: AsyncIterable<T>,
  present: (record: T) => Presented,
  log: Log,
): AsyncGenerator<Presented> {
  for await (const record of records) yield* presentAll([record], present, log)
}

/** Leaves out the items of a list that do not match the response schema of their route, for example because a field is missing. */
export const oddRecords = fastifyPlugin(
  async (app: FastifyInstance) => {
    app.addHook('preSerialization', async (request, reply, payload) => {
      const status = String(reply.statusCode)
      const byType = reply.getSerializationFunction(status, 'application/json')
      const serialize = (byType ?? reply.getSerializationFunction(status)) as Serialize | undefined
      if (!serialize) return payload
      reply.serializer((value: object) => {
        // An error of the serialization has replaced the response.
        return reply.statusCode >= 400 ? JSON.stringify(value) : serializeMost(serialize, value, request.log)
      })
      return payload
    })
  },
  { name: 'odd-records', fastify: '5.x' },
)

type Serialize = (payload: object) => string

function serializeMost(serialize: Serialize, payload: object, log: Log): string {
  try {
    return serialize(payload)
  } catch (error) {
    const lists = findLists(payload)
    if (lists.length === 0) throw error
    // One list at a time, with the others empty.
    const empty = lists.reduce((emptied, { replace }) => replace(emptied, []), payload)
    const most = lists.reduce((filtered, { items, replace }) => {
      const fitting = items.filter((item) => {
        try {
          serialize(replace(empty, [item]))
          return true
        } catch (cause) {
          logOdd(log, cause, item)
          return false
        }
      })
      return replace(filtered, fitting)
    }, payload)
    return serialize(most)
  }
}

/** Returns the lists that are the data of a response, or fields of it. */
function findLists(payload: object) {
  const { data } = payload as { data?: unknown }
  if (Array.isArray(data)) {
    return [
      { items: data as unknown[], replace: (whole: object, items: unknown[]): object => ({ ...whole, data: items }) },
    ]
  }
  return Object.entries(data ?? {}).flatMap(([name, items]: [string, unknown]) => {
    if (!Array.isArray(items)) return []
    const replace = (whole: object, replaced: unknown[]): object => ({
      ...whole,
      data: { ...(whole as { data: object }).data, [name]: replaced },
    })
    return [{ items: items as unknown[], replace }]
  })
}

function logOdd(log: Log, error: unknown, record: unknown): void {
  const { _id, id = _id } = (record ?? {}) as { _id?: unknown; id?: unknown }
  log.error({ err: error, recordId: String(id) }, 'record left out of a list')
}
