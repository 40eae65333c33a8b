import { DefaultLogger, Runtime, Worker } from '@temporalio/worker'
import { beforeAll, describe, expect, it } from 'vitest'
import { loadBundle } from '../../src/worker/bundle.ts'
import * as workflows from '../../src/workflows/index.ts'
import { listRecordings, readEvents, RECORDINGS, toHistory, type RecordedEvent } from './histories/recordings.ts'

const recorded = listRecordings().map((file) => {
  const name = file.split('/').at(-1)!.replace('.json', '')
  const covers: string = RECORDINGS[name as keyof typeof RECORDINGS]
  return { file, name, covers, events: readEvents(file) }
})

let workflowBundle: Awaited<ReturnType<typeof loadBundle>>

beforeAll(async () => {
  Runtime.install({ logger: new DefaultLogger('ERROR') })
  workflowBundle = await loadBundle()
})

const toStart = (events: RecordedEvent[]) => events[0]!.workflowExecutionStartedEventAttributes!

// Ids of child workflows begin with that of their parent.
const replay = (events: RecordedEvent[]): Promise<void> =>
  Worker.runReplayHistory({ workflowBundle }, toHistory(events), toStart(events).workflowId)

describe('recorded histories', () => {
  it('every history that is listed is recorded, and no other', () => {
    expect([...new Set(recorded.map(({ name }) => name))].toSorted()).toEqual(Object.keys(RECORDINGS).toSorted())
  })

  it.each(Object.keys(workflows))('the workflow %s has a recorded history', (workflow) => {
    expect(recorded.map(({ events }) => toStart(events).workflowType.name)).toContain(workflow)
  })

  it.each(recorded)('$file replays with the current workflows: $covers', async ({ events }) => {
    await replay(events)
  })

  it('a replay fails when the workflow would decide differently', async () => {
    const { events } = recorded.find(({ name }) => name === 'scheduled')!
    const altered = JSON.stringify(events).replaceAll('"publishToPlatform"', '"publishElsewhere"')
    await expect(replay(JSON.parse(altered) as RecordedEvent[])).rejects.toThrow(/[Nn]ondeterminism/)
  })

  it.each([
    [
      'scheduled',
      [
        expect.stringMatching(/^Mastodon, Threads, scheduled for 20\S+Z$/),
        expect.stringMatching(/^Wait until the post is armed for 20\S+Z$/),
        'Publish on Mastodon',
        'Publish on Threads',
      ],
    ],
    ['retried', [expect.stringMatching(/^Threads, scheduled for /), 'Publish on Threads, retry 1']],
    [
      'prepared-ahead',
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
      'payments-watched',
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
  ])('%s names the steps of its post or customer in the summaries', (wanted, steps) => {
    const { events } = recorded.find(({ name }) => name === wanted)!
    expect(events.flatMap(({ userMetadata }) => userMetadata?.summary?.json ?? [])).toEqual(steps)
  })

  it.each(recorded)('$file contains no text, address or token of a user', ({ events }) => {
    const text = JSON.stringify(events)
    expect(text).not.toMatch(/Words of a post|recorded@|recorded-token|000000 /)
    expect(text).not.toMatch(/accessToken|refreshToken|eyJ/)
  })
})
