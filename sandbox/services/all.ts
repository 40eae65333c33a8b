import { join } from 'node:path'
import { startAll } from '../start-all.ts'
import { startIdentity } from './identity.ts'
import { startMailCatcher } from './mail.ts'
import { startPayments } from './payments.ts'
import { startPush } from './push.ts'

/** The keys in `world.json`. */
export type ServiceName = 'mail' | 'push' | 'identity' | 'payments'

/** A simulated service besides the platforms. Each stores its data and ports in its own folder. */
interface SandboxService {
  name: ServiceName
  /** Its title in the list of addresses. */
  title: string
  start(dir: string): Promise<StartedService>
}

interface StartedService {
  url: string
  /** The control interface, like that of a platform. */
  control: string
  /** The service's configuration for it; `publicUrl` is where callbacks arrive. */
  env(publicUrl: string): Record<string, string>
  /** Additional entries in `world.json`. */
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
