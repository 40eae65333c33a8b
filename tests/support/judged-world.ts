import { createClient, type Client } from '../faults/client.ts'
import { readDatabase, readHistories } from '../faults/gather.ts'
import type { Canary, Evidence } from '../faults/judge/evidence.ts'
import { judge, sentencesOf } from '../faults/judge/judge.ts'
import { createOperationLog } from '../faults/operations.ts'
import type { DeliveryWorld } from './delivery-world.ts'

/** The service in this process, with every request noted and the invariants judged at the end. */
export function judgedWorld(world: DeliveryWorld) {
  const log = createOperationLog()
  const accounts = new Set<string>()
  const canaries: Canary[] = []

  return {
    /** For clients of other processes. */
    log,
    operations: log.operations,

    /** The world's user, with `posts` for the requests that are judged. What goes round them is not. */
    async user(...options: Parameters<DeliveryWorld['user']>) {
      const user = await world.user(...options)
      accounts.add(user.account.handle)
      for (const [name, value] of Object.entries(user.secrets)) {
        canaries.push({
          name,
          value,
          ...(name === 'email' && { mayStandIn: ['the database', 'the answer to a other'] }),
        })
      }
      const posts: Client = createClient({ log, userId: user.userId, send: user.call })
      return { ...user, posts }
    },

    /** Returns a sentence per violation, once everything is idle. `extra` adds evidence, such as outages. */
    async verdict(extra: Partial<Evidence> = {}): Promise<string[]> {
      const { config, database } = world.context
      const { document, ...stored } = await readDatabase(database.connection.db!)
      const ledger = (await world.control.ledger()).filter(({ account }) => accounts.has(account))
      const evidence: Evidence = {
        at: Date.now(),
        operations: log.operations,
        ...stored,
        platforms: [{ platform: 'bluesky', ledger, requests: await world.control.requests() }],
        outages: [],
        exits: [],
        canaries,
        documents: [document, await readHistories(config.TEMPORAL_ADDRESS, config.TEMPORAL_NAMESPACE)],
        leaseMs: config.PUBLISH_TIMEOUT_MS + 2_000,
      }
      return sentencesOf(judge({ ...evidence, ...extra }))
    },
  }
}
