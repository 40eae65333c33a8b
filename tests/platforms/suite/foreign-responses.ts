import { expect, it } from 'vitest'
import { FOREIGN_RESPONSES, insteadOf, type ForeignResponseName } from '../../../sandbox/platforms/foreign-responses.ts'
import type { Credentials, OutgoingPost, PlatformAdapter } from '../../../src/platforms/contract.ts'
import { PlatformError } from '../../../src/platforms/errors.ts'
import { newDelivery, searchOptions, type controlOf } from '../shared/support.ts'

interface Subject {
  control: ReturnType<typeof controlOf>
  adapter: PlatformAdapter
  account: Credentials
  /** A post whose preparation makes calls. */
  post: OutgoingPost
  /** The part of connecting in which the service calls the platform. */
  connect?(): Promise<unknown>
}

const NAMES = Object.keys(FOREIGN_RESPONSES) as ForeignResponseName[]
const options = () => ({ signal: AbortSignal.timeout(20_000) })

/** The operations of a platform, by name. Each prepares its input and returns the call that another server answers. */
const OPERATIONS: Record<string, (subject: Subject) => Promise<() => Promise<unknown> | undefined>> = {
  async connect({ connect }) {
    return () => connect?.()
  },
  async prepare({ adapter, post, account }) {
    return () => adapter.prepare(post, account, newDelivery(), options())
  },
  async publish({ adapter, post, account }) {
    const delivery = newDelivery()
    await adapter.prepare(post, account, delivery, options())
    return () => adapter.publish(post, account, delivery, options())
  },
  async reconcile({ adapter, post, account }) {
    const delivery = newDelivery()
    await adapter.prepare(post, account, delivery, options())
    return () => adapter.reconcile(post, account, delivery, searchOptions())
  },
  async discard({ adapter, post, account }) {
    const delivery = newDelivery()
    await adapter.prepare(post, account, delivery, options())
    return () => adapter.discard?.(delivery, account, options())
  },
  async remove({ adapter, post, account }) {
    const id = await publish({ adapter, post, account })
    return () => adapter.remove?.(id, account, options()).then(() => 'removed')
  },
  async planEdit({ adapter, post, account }) {
    const id = await publish({ adapter, post, account })
    return () => adapter.planEdit?.(id, withText(post, 'Another text'), account, options()).then(String)
  },
  async edit({ adapter, post, account }) {
    const id = await publish({ adapter, post, account })
    const edit = await adapter.planEdit?.(id, withText(post, 'Another text'), account, options())
    return () => edit?.().then(() => 'edited')
  },
  async metrics({ adapter, post, account }) {
    const id = await publish({ adapter, post, account })
    return () => adapter.metrics?.read([id], account, options())
  },
  async followers({ adapter, account }) {
    return () => adapter.followers?.(account, options())
  },
  async profile({ adapter, account }) {
    return () => adapter.profile(account, options())
  },
  async renew({ adapter, account }) {
    return () => adapter.renew?.(account, options())
  },
  async revoke({ adapter, account }) {
    return () => adapter.revoke?.(account, options())
  },
}

/** Returns the id of the published post. */
async function publish({ adapter, post, account }: Pick<Subject, 'adapter' | 'post' | 'account'>): Promise<string> {
  const delivery = newDelivery()
  await adapter.prepare(post, account, delivery, options())
  return (await adapter.publish(post, account, delivery, options())).platformPostId
}

const withText = (post: OutgoingPost, text: string): OutgoingPost => ({ ...post, content: { ...post.content, text } })

/** A proxy's response says nothing about a post, an account or a login. */
export function answeredByOthers(subjectOf: () => Promise<Subject>): void {
  it.each(Object.keys(OPERATIONS))(
    'the response of another server in place of the platform decides nothing: %s',
    async (operation) => {
      const subject = await subjectOf()
      // Prepared once for all responses: none of them changes anything.
      const call = await OPERATIONS[operation]!(subject)
      const decided: string[] = []
      for (const name of NAMES) {
        await subject.control.addFault({ action: insteadOf(name) })
        try {
          decided.push(`${name}: ${findDecision(await call())}`)
        } catch (error) {
          if (!(error instanceof PlatformError)) throw error
          decided.push(`${name}: ${error.class === 'transient' ? 'nothing' : error.class}`)
        } finally {
          await subject.control.clearFaults()
        }
      }
      expect(decided).toEqual(NAMES.map((name) => `${name}: nothing`))
    },
  )
}

/** Returns the decision in a result. Empty results decide nothing: revoking and discarding are best effort, unknown counts are null. */
function findDecision(result: unknown): string {
  if (result instanceof Map) return [...result.values()].includes('deleted') ? 'deleted' : 'nothing'
  return result === undefined || result === null ? 'nothing' : JSON.stringify(result)
}
