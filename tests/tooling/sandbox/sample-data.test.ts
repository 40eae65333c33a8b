import { expect, it } from 'vitest'
import { demoPosts } from '../../../sandbox/demo/posts.ts'
import { DAY } from '../../../src/domain/shared/times.ts'

it.each(['00:00:01', '12:00:00', '23:59:59'])(
  'no sample post was scheduled in the last 24 hours, which the service level objectives cover, at %s',
  (time) => {
    const now = new Date(`2026-03-10T${time}Z`)
    const posts = demoPosts(now, 'UTC')
    const scheduled = posts.filter(({ plannedMs }) => plannedMs > 0)
    expect(scheduled).not.toHaveLength(0)
    expect(scheduled.filter(({ at }) => at.getTime() > now.getTime() - DAY)).toEqual([])
  },
)
