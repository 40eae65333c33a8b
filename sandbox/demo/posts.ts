import { Temporal } from '@js-temporal/polyfill'
import { failure, type Failure } from '../../src/domain/posts/failure.ts'
import type { Platform } from '../../src/domain/shared/platforms.ts'
import { HOUR } from '../../src/domain/shared/times.ts'

/** Why a post failed or no longer exists. */
type Exception = Failure | 'deleted'

export interface DemoPost {
  text: string
  on: Platform[]
  /** The publication time. */
  at: Date
  /** Milliseconds between writing and publication; 0: published immediately. */
  plannedMs: number
  exceptions: Partial<Record<Platform, Exception>>
}

const EVERYWHERE: Platform[] = ['bluesky', 'mastodon', 'tumblr', 'threads', 'facebook', 'instagram']
const SHORT: Platform[] = ['bluesky', 'mastodon', 'threads']
const WORDY: Platform[] = ['tumblr', 'facebook', 'mastodon']
const PICTURED: Platform[] = ['instagram', 'facebook', 'threads']

const BLOCKED = failure('blocked_by_platform', 'The platform refused it as spam')
const REFUSED = failure('validation', 'The platform does not accept this post')

type Line = [daysAgo: number, time: string, on: Platform[], text: string, exceptions?: DemoPost['exceptions']]

/** Two weeks of posts of a tea shop. Every text is marked as sample data. */
const LINES: Line[] = [
  [14, '08:15', EVERYWHERE, 'Good morning! The new season starts today, and the kettle is on.'],
  [14, '18:30', SHORT, 'First day done: forty pots, two spills, no regrets.'],
  [13, '12:05', PICTURED, 'Lunch break with a view of the tea shelves.'],
  [12, '09:00', WORDY, 'Why we weigh our leaves instead of counting spoons: a short story in three cups.'],
  [12, '19:45', EVERYWHERE, 'Ask us anything about green tea tonight.'],
  [11, '17:20', SHORT, 'A customer asked for tea that tastes like coffee. We sold them coffee.'],
  [10, '08:40', PICTURED, 'Fresh tins, freshly stacked. Can you find the crooked one?', { threads: REFUSED }],
  [10, '20:10', WORDY, 'How to brew oolong without a thermometer, explained slowly.'],
  [9, '11:30', EVERYWHERE, 'We need help on weekends. Cake included.', { mastodon: 'deleted' }],
  [9, '18:55', SHORT, 'It rains. You know what to do.'],
  [8, '10:00', PICTURED, 'Our weekend window, drawn by hand.'],
  [8, '16:45', SHORT, 'Three kinds of people: milk first, milk last, no milk. Fight it out below.'],
  [7, '09:30', EVERYWHERE, 'A list for a slow day: sleep, steep, repeat.'],
  [7, '19:00', WORDY, 'A letter from the garden that grows our Darjeeling.', { facebook: BLOCKED }],
  [6, '07:50', SHORT, 'Some mornings need a double pot.'],
  [6, '13:10', PICTURED, 'New cups are in. Handle with tea.'],
  [5, '12:20', EVERYWHERE, 'Half price on last year’s leaves until they are gone.'],
  [5, '21:05', SHORT, 'Closing time thought: no guest ever regretted a second cup.'],
  [4, '08:25', WORDY, 'What the words on the bag mean, and which of them mean nothing.'],
  [4, '18:15', PICTURED, 'Steam, in the evening light.'],
  [3, '10:40', EVERYWHERE, 'The workshop is back: learn to whisk matcha in an hour.'],
  [3, '19:30', SHORT, 'Win free tea!!! Click here!!!', { bluesky: BLOCKED, mastodon: BLOCKED, threads: BLOCKED }],
  [2, '12:00', EVERYWHERE, 'Our ginger blend is back on the shelf, by popular complaint.'],
  [2, '17:40', SHORT, 'A guest just proposed at table four. The answer was yes. Tea is on us.'],
  [1, '09:10', PICTURED, 'Labels by the hundred.'],
  [1, '18:05', EVERYWHERE, 'Thank you for two good weeks. Tomorrow: scones.'],
]

const MARK = '(sample post, sandbox data)'

/** Returns the posts of the two weeks before `now`, oldest first, in local time of `timezone`. */
export function demoPosts(now: Date, timezone: string): DemoPost[] {
  const today = Temporal.Instant.fromEpochMilliseconds(now.getTime()).toZonedDateTimeISO(timezone).toPlainDate()
  return LINES.map(([daysAgo, time, on, text, exceptions = {}], index) => {
    const { epochMilliseconds } = today
      .subtract({ days: daysAgo })
      .toZonedDateTime({ timeZone: timezone, plainTime: time })
    // Every other post was scheduled the day before. None is within the window of the service level objectives, because
    // the service did not deliver them.
    const plannedMs = index % 2 === 0 || daysAgo <= 1 ? 0 : 20 * HOUR
    return { text: `${text} ${MARK}`, on, at: new Date(epochMilliseconds), plannedMs, exceptions }
  })
}
