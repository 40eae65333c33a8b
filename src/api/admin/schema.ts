import { Type, type TSchema } from '@sinclair/typebox'
import { AUDIT_ACTIONS } from '../../domain/users/audit.ts'
import { MESSAGE_TYPES } from '../../domain/analytics/collection.ts'
import { SUBSCRIPTION_PLANS } from '../../domain/billing/subscription.ts'
import { ROLES } from '../../domain/users/user.ts'
import { UserRecord } from '../auth/schema.ts'
import { ListPostsQuery } from '../posts/schemas/list.ts'
import { Instant, nullable, stringEnum, pageFields, pageResultFields, PlatformName } from '../shared/schemas/common.ts'
import { messageWithData } from '../shared/schemas/envelope.ts'

/** All users, or a page of them with the page fields beside `data`. */
export const UserList = Type.Composite([
  messageWithData(Type.Array(UserRecord)),
  Type.Partial(Type.Object(pageResultFields)),
])

const { page, limit } = pageFields
const withoutDefault = <T extends TSchema>({ default: _, ...schema }: T) => Type.Optional(schema as unknown as T)

export const UserListQuery = Type.Object({
  page: withoutDefault(page),
  limit: withoutDefault(limit),
  q: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description: 'Case-insensitive text to search for in names and addresses, or an id',
    }),
  ),
})

/** The filters of the user's own list, without metrics. */
export const UserPostsQuery = Type.Omit(ListPostsQuery, ['include'])

const allowance = Type.Integer({ minimum: 0, maximum: 999_999_999 })
export const LimitsBody = Type.Object(
  { maxPosts: allowance, maxCaptionGenerations: allowance },
  { title: 'UserLimits' },
)

export const PlanQuery = Type.Object({ plan: stringEnum(SUBSCRIPTION_PLANS) })

export const ChangedPlan = Type.Object({ userId: Type.String(), plan: stringEnum(SUBSCRIPTION_PLANS) })

export const ActivityBody = Type.Object(
  {
    activity: Type.Boolean({ description: 'False disables the account and ends all of its sessions immediately' }),
  },
  { title: 'UserActivity' },
)

export const ChangedUser = Type.Object({
  _id: Type.String(),
  email: Type.String(),
  name: Type.String(),
  isDisabled: Type.Boolean(),
})

export const AdminAnalytics = Type.Object(
  {
    totalUsers: Type.Integer(),
    activeUsers: Type.Integer(),
    inactiveUsers: Type.Integer(),
    paidUsers: Type.Integer(),
    monthlyGrowth: Type.Number({
      description:
        'Users created in this UTC month against those of the month before, as a change in percent with two decimals. ' +
        'If the month before has none: 100 if this month has any, else 0',
    }),
    topPlan: stringEnum(['Free', 'Professional'], {
      description: 'Free when both plans have the same number of users',
    }),
  },
  { title: 'UserStatistics' },
)

const AuditFacts = Type.Partial(
  Type.Object({
    plan: stringEnum(SUBSCRIPTION_PLANS),
    limits: Type.Object({ maxPosts: Type.Integer(), maxCaptionGenerations: Type.Integer() }),
    isDisabled: Type.Boolean(),
    role: stringEnum(ROLES),
    postId: Type.String({ description: 'The post that the admin read' }),
    deadLetter: Type.Object({
      type: stringEnum(MESSAGE_TYPES),
      platform: PlatformName,
      postId: nullable(Type.String()),
      count: Type.Integer(),
    }),
  }),
  { title: 'AuditFacts' },
)

export const DeadLetterPage = Type.Composite([
  messageWithData(
    Type.Array(
      Type.Object(
        {
          _id: Type.String(),
          type: stringEnum(MESSAGE_TYPES, {
            description: 'The failed collection: the metrics of a post, or the followers of an account',
          }),
          postId: nullable(Type.String()),
          userId: Type.String(),
          platform: PlatformName,
          reason: Type.String({ description: 'The reason of the latest failure' }),
          count: Type.Integer({ description: 'Number of failures' }),
          firstAt: Instant,
          lastAt: Instant,
        },
        { title: 'DeadLetter' },
      ),
    ),
  ),
  Type.Object(pageResultFields),
])

export const DeadLetterQuery = Type.Object(pageFields)

export const AuditQuery = Type.Object(pageFields)

export const AuditPage = Type.Composite([
  messageWithData(
    Type.Array(
      Type.Object(
        {
          _id: Type.String(),
          at: Instant,
          actorId: Type.String({ description: 'Id of the admin, or `cli`' }),
          action: stringEnum(AUDIT_ACTIONS),
          subjectId: Type.String({ description: 'Id of the user whose record was changed or read' }),
          before: AuditFacts,
          after: AuditFacts,
          requestId: nullable(Type.String()),
          ipAddress: nullable(Type.String()),
        },
        { title: 'AuditEntry' },
      ),
    ),
  ),
  Type.Object(pageResultFields),
])
