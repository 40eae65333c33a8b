import { afterAll, beforeAll, expect, it } from 'vitest'
import { createPublicationTurns } from '../../../src/activities/publishing/publication-turns.ts'
import { createAskPublicationQuota } from '../../../src/commands/accounts/ask-publication-quota.ts'
import type { PublicationReport } from '../../../src/domain/quotas/publications.ts'
import { DAY, HOUR } from '../../../src/domain/shared/times.ts'
import type { Credentials, PlatformAdapter } from '../../../src/platforms/contract.ts'
import { PublicationQuotaReached } from '../../../src/platforms/errors.ts'
import { createPublicationLedger } from '../../../src/store/quotas/publication-ledger.ts'
import { buildPost } from '../../support/posts.ts'
import { quotaDatabase } from '../../support/quota-databases.ts'
import { unique } from '../../support/servers.ts'
import { partial } from '../../support/partial.ts'

let database: Awaited<ReturnType<typeof quotaDatabase>>
beforeAll(async () => {
  database = await quotaDatabase()
})
afterAll(() => database.close())

const ACCOUNT = { accountId: 'account' } as Credentials

/** The deliveries of one account whose documented limit is one post. The platform states `report` when it is asked. */
function turnsOf(readReport: () => Promise<PublicationReport[]>) {
  let asked = 0
  const subject = { key: unique('account'), limits: [{ span: 'day', limit: 1, windowMs: DAY }] }
  const adapter = {
    publicationQuota: () => subject,
    readPublicationQuota: () => {
      asked += 1
      return readReport()
    },
  } as unknown as PlatformAdapter
  const publicationLedger = createPublicationLedger(database.database.connection)
  const turns = createPublicationTurns(
    partial({ publicationLedger, askPublicationQuota: createAskPublicationQuota({ publicationLedger }) }),
  )
  const take = () => {
    const post = buildPost({ userId: 'user' }, new Date())
    return turns.take(
      { post, entry: post.platformStatuses[0]!, input: { platform: 'threads', round: 0, postId: post._id } as never },
      adapter,
      ACCOUNT,
      1_000,
    )
  }
  return { take, asked: () => asked }
}

const reportOf = (limit: number, remaining: number) => [{ span: 'day', limit, remaining, resetsInMs: HOUR }]

it('a platform that states a higher limit than the documented one is believed', async () => {
  const { take, asked } = turnsOf(async () => reportOf(3, 2))
  for (let index = 0; index < 3; index++) await take()
  await expect(take()).rejects.toThrow('Threads accepts 3 posts of an account in 24 hours')
  expect(asked()).toBe(1)
})

it('many deliveries that wait ask the platform once', async () => {
  const { take, asked } = turnsOf(async () => reportOf(1, 0))
  await take()
  const waiting = await Promise.allSettled(Array.from({ length: 20 }, take))
  expect(waiting.every((one) => one.status === 'rejected' && one.reason instanceof PublicationQuotaReached)).toBe(true)
  expect(asked()).toBe(1)
})

it('deliveries wait for the documented limit while the platform does not answer', async () => {
  const { take } = turnsOf(() => Promise.reject(new Error('not now')))
  await take()
  await expect(take()).rejects.toThrow('Threads accepts one post of an account in 24 hours')
})

it('a token that was given back is used by the next delivery', async () => {
  const { take } = turnsOf(async () => [])
  const turn = await take()
  await turn.giveBack()
  await take()
  await expect(take()).rejects.toBeInstanceOf(PublicationQuotaReached)
})
