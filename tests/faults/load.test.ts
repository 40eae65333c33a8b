import { expect, it } from 'vitest'
import { churn } from './churn.ts'
import { runSeed } from './run.ts'
import { useFaultCluster } from './test-cluster.ts'

/** Kills processes of a cluster that delivers many posts, and judges the invariants each time. */

const SECOND = 1_000
/** The one seed that the tests run. `npm run chaos` runs others. */
const SEED = 12
/** The number of posts in the churn, each for every platform. */
const CHURN_POSTS = 30

const tested = useFaultCluster()

it('each post is published once while workers are killed in turn and many posts are due together', async () => {
  const calm = await churn(tested.cluster, CHURN_POSTS, null)
  expect(calm.violations).toEqual([])
  const churned = await churn(tested.cluster, CHURN_POSTS, 2 * SECOND)
  expect(churned.violations).toEqual([])
  console.log(
    `${CHURN_POSTS} posts: drained in ${calm.drainMs} ms without kills, in ${churned.drainMs} ms with ${churned.kills} kills`,
  )
})

it(`the service keeps every invariant under the faults of seed ${SEED}`, async () => {
  const { cluster } = tested
  const { violations } = await runSeed(cluster, SEED, { users: 3, posts: 25, faults: 6, lengthMs: 10 * SECOND })
  expect(violations, `the journal is ${cluster.journal.file}`).toEqual([])
})
