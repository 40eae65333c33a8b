import { DAY } from '../../../domain/shared/times.ts'
import type { Credentials } from '../../contract.ts'
import { isErrorClass } from './errors.ts'

const MAX_REMEMBERED = 10_000

/**
 * Tries requests from the largest to the smallest until the login's permissions suffice. The error of the last one is
 * thrown.
 * The result is remembered for a day, since refused calls count against the limit. A new connection starts over.
 */
export function createPermissionFallback<R>(requests: readonly R[]) {
  const allowed = new Map<string, { from: number; until: number }>()

  function remember(login: string, from: number): void {
    if (allowed.size >= MAX_REMEMBERED) allowed.clear()
    allowed.set(login, { from, until: Date.now() + DAY })
  }

  return async function request<T>(
    { accountId, version }: Pick<Credentials, 'accountId' | 'version'>,
    work: (request: R) => Promise<T>,
  ): Promise<T> {
    const login = `${accountId}/${version}`
    const known = allowed.get(login)
    const from = known && Date.now() < known.until ? known.from : 0
    for (let at = from; ; at++) {
      try {
        const response = await work(requests[at]!)
        // A login that is refused every request may just have a temporary problem.
        if (at > from) remember(login, at)
        return response
      } catch (error) {
        if (at === requests.length - 1 || !isErrorClass(error, 'permission')) throw error
      }
    }
  }
}
