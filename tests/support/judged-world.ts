import { createClient, type Client } from '../faults/client.ts'
import { readDatabase, readHistories } from '../faults/gather.ts'
import type { Canary, Evidence } from '../faults/judge/evidence.ts'
import { formatViolations, judge } from '../faults/judge/judge.ts'
import { createOperationLog } from '../faults/operations.ts'
import type { DeliveryWorld } from './delivery-world.ts'

/** Wraps the service in this process: records the requests of its users and judges the invariants at the end. */
export function judgedWorld(world: DeliveryWorld) {
  const log = createOperationLog()
  const accounts = new Set<string>()
  const canaries: Canary[] = []

  return {
    /** Records the requests of clients of other processes. */
    log,
    operations: log.operations,

    /** Returns a user whose requests through `posts` are judged. Other requests are not recorded. */
    async user(...options: Parameters<DeliveryWorld['user']>) {
      const user = await world.user(...options)
      accounts.add(user.account.handle)
      for (const [name, value] of Object.entries(user.secrets)) {
        canaries.push({
          name,
          value,
          ...(name === 'email' && { allowedIn: ['the database', 'the response to "other"'] }),
        })
      }
      const posts: Client = createClient({ log, userId: user.userId, send: user.call })
      return { ...user, posts }
    },

    /** Returns one line per violation. Everything must be idle. `extra` replaces parts of the evidence, such as the outages. */
    async verdict(extra: Partial<Evidence> = {}): Promise<string[]> {
      const { config, database } = world.context
      await world.context.eventRelay.idle()
      const { document, ...stored } = await readDatabase(database.connection.db!)
      const ledger = (await world.control.ledger()).filter(({ account }) => accounts.has(account))
      const evidence: Evidence = {
        at: Date.now(),
        operations: log.operations,
        ...stored,
        webhooks: [],
        platforms: [{ platform: 'bluesky', ledger, requests: await world.control.requests() }],
        outages: [],
        exits: [],
        canaries,
        documents: [document, await readHistories(config.TEMPORAL_ADDRESS, config.TEMPORAL_NAMESPACE)],
        leaseMs: config.PUBLISH_TIMEOUT_MS + 2_000,
      }
      return formatViolations(judge({ ...evidence, ...extra }))
    },
  }
}
