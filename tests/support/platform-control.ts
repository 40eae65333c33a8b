import type { LedgerEntry, LoggedRequest } from '../../sandbox/platforms/proxied-platform.ts'
import type { Fault } from '../../sandbox/platforms/faults.ts'

export type { LedgerEntry }

/** Creates a client of the control interface that every platform of the sandbox has. */
export function controlOf(url: string) {
  async function call<T>(method: string, path: string, body?: object): Promise<T> {
    const response = await fetch(`${url}${path}`, {
      method,
      ...(body ? { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } } : {}),
    })
    if (!response.ok) throw new Error(`${method} ${path} returned ${response.status}: ${await response.text()}`)
    return (await response.json()) as T
  }
  const account = (id: string, verb: string) => call('POST', `/accounts/${encodeURIComponent(id)}/${verb}`)

  return {
    ledger: () => call<LedgerEntry[]>('GET', '/ledger'),
    requests: () => call<LoggedRequest[]>('GET', '/requests'),
    fault: (fault: Fault) => call('POST', '/faults', fault),
    /** The faults that still affect calls. */
    faults: () => call<Fault[]>('GET', '/faults'),
    clearFaults: () => call('DELETE', '/faults'),
    revoke: (id: string) => account(id, 'revoke'),
    expire: (id: string) => account(id, 'expire'),
    deletePost: (id: string) => call('POST', `/posts/${encodeURIComponent(id)}/delete`),
    setMetrics: (id: string, metrics: Record<string, number>) =>
      call('POST', `/posts/${encodeURIComponent(id)}/metrics`, metrics),
    setAccountMetrics: (id: string, metrics: Record<string, number>) =>
      call('POST', `/accounts/${encodeURIComponent(id)}/metrics`, metrics),
  }
}

export type Control = ReturnType<typeof controlOf>
