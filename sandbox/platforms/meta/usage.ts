import { GraphRefusal } from '../shared/graph/graph.ts'
import type { Caller } from './tokens.ts'

const WINDOW_MS = 3_600_000

/** Counts calls per page and hour, aligned to the clock. The real limit depends on the page's engagement. */
export function createUsage({ callsPerHour }: { callsPerHour: number }) {
  const counts = new Map<string, number>()

  /**
   * Counts a call and returns the headers with the usage.
   * @throws GraphRefusal with the headers
   */
  return function count(caller: Caller | null): Record<string, string> {
    const subject = caller?.page?.id ?? caller?.person.id
    if (subject === undefined) return {}
    const window = Math.floor(Date.now() / WINDOW_MS)
    const key = `${subject}/${window}`
    const used = (counts.get(key) ?? 0) + 1
    if (counts.size > 10_000) counts.clear()
    counts.set(key, used)
    const percent = Math.min(100, Math.floor((used / callsPerHour) * 100))
    const isOver = used > callsPerHour
    const minutes = isOver ? Math.ceil(((window + 1) * WINDOW_MS - Date.now()) / 60_000) : 0
    const use = {
      type: caller?.page ? 'pages' : 'instagram',
      call_count: percent,
      total_cputime: 1,
      total_time: 1,
      estimated_time_to_regain_access: minutes,
    }
    const headers = {
      'x-app-usage': JSON.stringify({ call_count: 1, total_time: 1, total_cputime: 1 }),
      'x-business-use-case-usage': JSON.stringify({ [subject]: [use] }),
    }
    if (!isOver) return headers
    const { code, kind } = caller?.page ? { code: 80_001, kind: 'Page' } : { code: 80_002, kind: 'Instagram' }
    throw new GraphRefusal({
      code,
      message: `(#${code}) There have been too many calls to this ${kind} account. Wait a bit and try again.`,
      headers,
    })
  }
}
