import { Type } from '@sinclair/typebox'
import { MAX_SLOT_PLANS, MAX_SLOT_TIMES, MAX_UPCOMING_DAYS, WEEKDAYS } from '../../domain/posts/slots.ts'
import { ETagField, IfMatchHeader } from '../shared/etags.ts'
import { Instant, nullable, stringEnum } from '../shared/schemas/common.ts'

const SlotTimeSchema = Type.Object(
  {
    day: stringEnum(WEEKDAYS),
    time: Type.String({ pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$', description: 'Local time in `timezone`' }),
  },
  { title: 'SlotTime', examples: [{ day: 'monday', time: '09:30' }] },
)

const target = {
  accountId: Type.Optional(Type.String({ maxLength: 100, description: 'The account that has these slots' })),
  groupId: Type.Optional(Type.String({ maxLength: 100, description: 'The group that has these slots' })),
}

const SlotPlanSchema = Type.Object(
  {
    ...target,
    timezone: Type.String({ maxLength: 100, description: 'IANA timezone', examples: ['Europe/Berlin'] }),
    times: Type.Array(SlotTimeSchema, { minItems: 1, maxItems: MAX_SLOT_TIMES }),
  },
  { title: 'SlotPlan', description: 'Has either `accountId` or `groupId`.' },
)

export const SlotsBody = Type.Object(
  { slots: Type.Array(SlotPlanSchema, { maxItems: MAX_SLOT_PLANS }) },
  {
    title: 'ReplaceSlots',
    examples: [
      {
        slots: [
          {
            accountId: '66b1f0c2a7e4d5f6a7b8c9d0',
            timezone: 'Europe/Berlin',
            times: [{ day: 'monday', time: '09:30' }],
          },
        ],
      },
    ],
  },
)

export const SlotsHeaders = Type.Object(IfMatchHeader)

export const SlotsSchema = Type.Object({ slots: Type.Array(SlotPlanSchema), etag: ETagField }, { title: 'Slots' })

const bound = (description: string) =>
  Type.String({ maxLength: 100, description, examples: ['2027-05-01', '2027-05-01T09:30:00Z'] })

export const UpcomingSlotsQuery = Type.Object({
  from: bound('Earliest date-time, or the start of this date'),
  to: bound(`Latest date-time, or the end of this date, at most ${MAX_UPCOMING_DAYS - 1} days later`),
  timezone: Type.Optional(
    Type.String({
      maxLength: 100,
      description: 'The IANA timezone of dates; yours by default',
      examples: ['Europe/Berlin'],
    }),
  ),
})

export const UpcomingSlotSchema = Type.Object(
  {
    ...target,
    at: Instant,
    postId: nullable(Type.String({ description: 'The scheduled post that takes the slot; null while it is free' })),
  },
  { title: 'UpcomingSlot' },
)
