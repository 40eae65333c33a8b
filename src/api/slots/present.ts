import type { Static } from '@sinclair/typebox'
import type { UpcomingSlot } from '../../commands/posts/find-slots.ts'
import type { SlotPlan, UserSlots } from '../../domain/posts/slots.ts'
import { toETag } from '../shared/etags.ts'
import type { SlotsSchema, UpcomingSlotSchema } from './schema.ts'

const presentTarget = ({ kind, id }: Pick<SlotPlan, 'kind' | 'id'>) =>
  kind === 'account' ? { accountId: id } : { groupId: id }

export function presentSlots(slots: UserSlots): Static<typeof SlotsSchema> {
  const presented = slots.plans.map(({ timezone, times, ...target }) => {
    return { ...presentTarget(target), timezone, times: times.map(({ day, time }) => ({ day, time })) }
  })
  return { slots: presented, etag: toETag(slots) }
}

export function presentUpcomingSlot({ plan, at, postId }: UpcomingSlot): Static<typeof UpcomingSlotSchema> {
  return { ...presentTarget(plan), at: at.toISOString(), postId }
}
