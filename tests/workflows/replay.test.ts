import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js'
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker'
import { beforeAll, describe, expect, it } from 'vitest'
import { bundleWorkflows } from '../../src/worker/bundle.ts'

const HISTORIES = fileURLToPath(new URL('./histories/', import.meta.url))
const recorded = readdirSync(HISTORIES, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.json'))

let workflowBundle: Awaited<ReturnType<typeof bundleWorkflows>>

beforeAll(async () => {
  Runtime.install({ logger: new DefaultLogger('ERROR') })
  workflowBundle = await bundleWorkflows()
})

const readHistory = (file: string) => readFileSync(`${HISTORIES}${file}`, 'utf8')

function replay(json: string): Promise<void> {
  const history = historyFromJSON(JSON.parse(json))
  // Ids of child workflows begin with that of their parent.
  const workflowId = history.events?.[0]?.workflowExecutionStartedEventAttributes?.workflowId
  return Worker.runReplayHistory({ workflowBundle }, history, workflowId ?? undefined)
}

describe('recorded histories', () => {
  it('recorded histories cover every path of a post and every other workflow', () => {
    expect(recorded.map((file) => file.split('/').at(-1))).toEqual(
      expect.arrayContaining([
        'immediate.json',
        'scheduled.json',
        'cancelled-while-waiting.json',
        'cancelled-while-armed.json',
        'cancelled-by-operator.json',
        'rescheduled.json',
        'one-platform-refused.json',
        'retried.json',
        'prepared-ahead.json',
        'mail-sent.json',
        'push-delivered.json',
        'erasure-under-way.json',
        'subscription-watched.json',
        'subscription-ended.json',
        'subscription-not-there.json',
        'payment-routed.json',
        'payment-of-nobody.json',
        'billing-reconciled.json',
        'metrics-to-be-gone-on-with.json',
        'metrics-gone-on-with.json',
        'followers-after-a-pause.json',
        'metrics-in-shards.json',
        'metrics-shard-to-continue.json',
        'metrics-shard-continued.json',
        'metrics-shard-paused.json',
        'followers-in-shards.json',
        'followers-shard-after-a-pause.json',
        'due-posts-checked.json',
        'snapshots-downsampled.json',
        'metrics-refreshed.json',
        'dead-letter-replayed.json',
        'import-applied.json',
        'import-paused.json',
        'import-resumed.json',
        'webhook-delivered.json',
        'webhook-waits-for-retry.json',
        'webhook-woken-and-retried.json',
      ]),
    )
  })

  it.each(recorded)('%s replays with the current workflows', async (file) => {
    await replay(readHistory(file))
  })

  it('a replay fails when the workflow would decide differently', async () => {
    const [scheduled] = recorded.filter((file) => file.endsWith('scheduled.json'))
    const altered = readHistory(scheduled!).replaceAll('"publishToPlatform"', '"publishElsewhere"')
    await expect(replay(altered)).rejects.toThrow(/[Nn]ondeterminism/)
  })

  it.each([
    [
      'scheduled.json',
      [
        expect.stringMatching(/^Mastodon, Threads, scheduled for 20\S+Z$/),
        expect.stringMatching(/^Wait until the post is armed for 20\S+Z$/),
        'Publish on Mastodon',
        'Publish on Threads',
      ],
    ],
    ['retried.json', [expect.stringMatching(/^Threads, scheduled for /), 'Publish on Threads, retry 1']],
    [
      'prepared-ahead.json',
      [
        expect.stringMatching(/^Mastodon, Threads, scheduled for /),
        'Wait until the media is prepared for Mastodon',
        'Wait until the media is prepared for Threads',
        'Prepare the media for Mastodon',
        'Prepare the media for Threads',
        expect.stringMatching(/^Wait until the post is armed for /),
        'Publish on Mastodon',
        'Publish on Threads',
      ],
    ],
    [
      'subscription-watched.json',
      [
        "Watch over a user's subscription",
        expect.stringMatching(/^checkout\.session\.completed evt_\w+$/),
        expect.stringMatching(/^Wait for events, or until 20\S+Z$/),
        // A cancelled wait appears a second time.
        expect.stringMatching(/^Wait for events, or until 20\S+Z$/),
        expect.stringMatching(/^invoice\.payment_succeeded evt_\w+$/),
        expect.stringMatching(/^Wait for events, or until 20\S+Z$/),
      ],
    ],
  ])('%s names the steps of its post or customer in the summaries', (name, steps) => {
    const file = recorded.find((path) => path.split('/').at(-1) === name)!
    const { events } = JSON.parse(readHistory(file)) as { events: { userMetadata?: { summary?: { data: string } } }[] }
    const summaries = events.flatMap(({ userMetadata }) => userMetadata?.summary?.data ?? [])
    expect(summaries.map((data) => JSON.parse(Buffer.from(data, 'base64').toString()) as string)).toEqual(steps)
  })

  it.each(recorded)('%s contains ids, but no text, address or token', (file) => {
    const { events } = JSON.parse(readHistory(file)) as { events: unknown[] }
    const decoded = JSON.stringify(events).replaceAll(/"data":"([A-Za-z0-9+/=]+)"/g, (_all, data: string) =>
      Buffer.from(data, 'base64').toString(),
    )
    expect(decoded).toMatch(/"?[0-9a-f]{24}"?/)
    expect(decoded).not.toMatch(/Words of a post|recorded@|recorded-token|000000 /)
    expect(decoded).not.toMatch(/accessToken|refreshToken|eyJ/)
  })
})
