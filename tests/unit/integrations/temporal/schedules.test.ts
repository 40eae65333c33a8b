import { ScheduleAlreadyRunning, ServiceError, type ScheduleClient } from '@temporalio/client'
import { describe, expect, it, vi } from 'vitest'
import { createSchedules } from '../../../../src/integrations/temporal/schedules.ts'
import type { TemporalClient } from '../../../../src/integrations/temporal/client.ts'
import { listScheduledWorkflows } from '../../../../src/workflows/contract/schedules.ts'

const INTERVAL_MS = 60_000
const COUNT = listScheduledWorkflows({ sweepIntervalMs: INTERVAL_MS, metricsIntervalMs: INTERVAL_MS }).length

/** Updates the existing Schedules. The first updates fail with these errors. */
function updateSchedules(errors: Error[]) {
  const update = vi.fn<() => Promise<void>>(async () => {})
  for (const error of errors) update.mockRejectedValueOnce(error)
  const schedules = {
    create: async ({ scheduleId }: { scheduleId: string }) => {
      throw new ScheduleAlreadyRunning('It exists', scheduleId)
    },
    getHandle: () => ({ update }),
  } as unknown as ScheduleClient
  const client = { schedules } as TemporalClient
  return { update, done: createSchedules(client).ensureSchedules(INTERVAL_MS) }
}

const unanswered = () => new ServiceError('Failed to describe schedule')

describe('the update of a Schedule', () => {
  it('the update is repeated when Temporal does not answer', async () => {
    const { update, done } = updateSchedules([unanswered(), unanswered()])
    await done
    expect(update).toHaveBeenCalledTimes(COUNT + 2)
  })

  it('the update fails when Temporal does not answer at all', async () => {
    await expect(updateSchedules(Array.from({ length: 3 * COUNT }, unanswered)).done).rejects.toThrow(ServiceError)
  })

  it('the update fails immediately with an error of this service', async () => {
    const { update, done } = updateSchedules([new TypeError('A mistake')])
    await expect(done).rejects.toThrow('A mistake')
    expect(update).toHaveBeenCalledTimes(COUNT)
  })
})
