import { join } from 'node:path'
import { startAll } from '../start-all.ts'
import { startIdentity } from './identity.ts'
import { startMailCatcher } from './mail.ts'
import { startPayments } from './payments.ts'
import { startPush } from './push.ts'

/** By these names they stand in `world.json`. */
export type ServiceName = 'mail' | 'push' | 'identity' | 'payments'

/** A server besides the platforms that the sandbox starts: each keeps its data, and its ports, in a folder of its own. */
interface SandboxService {
  name: ServiceName
  /** What is found at its address, for the list of addresses. */
  title: string
  start(dir: string): Promise<StartedService>
}

interface StartedService {
  url: string
  /** Where scripts break it and ask it, as the platforms' control interfaces. */
  control: string
  /** The settings with which the service's processes reach it; `publicUrl` is where it finds their callbacks. */
  env(publicUrl: string): Record<string, string>
  /** More of what is told about it in `world.json`. */
  facts?: Record<string, string>
  stop(): Promise<void>
}

export interface RunningService extends StartedService {
  name: ServiceName
  title: string
}

const SANDBOX_SERVICES: SandboxService[] = [
  { name: 'mail', title: 'mails', start: (dir) => startMailCatcher({ dir }) },
  { name: 'push', title: 'push messages', start: (dir) => startPush({ dir }) },
  { name: 'identity', title: 'Google logins', start: (dir) => startIdentity({ dir }) },
  { name: 'payments', title: 'payments', start: (dir) => startPayments({ dir }) },
]

export function startServices(dir: string): Promise<RunningService[]> {
  return startAll(
    SANDBOX_SERVICES.map(async ({ name, title, start }) => ({ ...(await start(join(dir, name))), name, title })),
  )
}
