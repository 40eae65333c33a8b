import { Type } from '@sinclair/typebox'
import { WAITING_REASONS } from '../../domain/posts/waiting.ts'
import { SETUP_PARTS, SETUP_STATES } from '../../domain/setup/setup.ts'
import { Instant, nullable, stringEnum } from '../shared/schemas/common.ts'

export const SetupReport = Type.Array(
  Type.Object(
    {
      part: stringEnum(SETUP_PARTS),
      state: stringEnum(SETUP_STATES, {
        description:
          '`missing`: users need it, and it is not set up. `failing`: it is set up, and the check failed. `off`: an optional part',
      }),
      effect: Type.String({ description: 'What the state means for users' }),
      problem: nullable(Type.String({ description: 'Why the check failed' })),
      nextStep: nullable(Type.String({ description: 'What to do; null when the part is ready' })),
      settings: Type.Array(Type.String(), { description: 'Names of the settings' }),
    },
    { title: 'SetupEntry' },
  ),
  { description: 'A result is cached for 10 s' },
)

const TaskQueueSchema = Type.Object(
  {
    queue: Type.String({ examples: ['publishing'] }),
    kind: stringEnum(['workflows', 'activities'] as const),
    isServed: Type.Boolean({ description: 'Whether a worker has polled within `WORKER_SILENCE_MS`' }),
    backlog: Type.Integer({ description: 'Tasks that no worker has taken yet, about' }),
    backlogAgeMs: Type.Integer({ description: 'How long the oldest of them has waited' }),
    pollers: Type.Array(
      Type.Object({
        identity: Type.String({ description: 'Process id and host name of the worker' }),
        lastAccessAt: Instant,
      }),
      { description: 'The workers of the last minutes, the latest first; at most 50' },
    ),
  },
  { title: 'TaskQueue' },
)

export const Queues = Type.Object(
  {
    at: Instant,
    taskQueues: nullable(Type.Array(TaskQueueSchema, { description: 'Null when Temporal does not answer' })),
    unstartedPosts: Type.Integer({
      description: 'Posts that are due for more than 30 s and whose delivery has not begun; at most 10,000',
    }),
    waiting: Type.Array(
      Type.Object(
        {
          reason: stringEnum(WAITING_REASONS, {
            description:
              '`NOT_STARTED`, `SENDING`, `RECONCILING` (the outcome of a call is unknown), `SERVER_UNREACHABLE`, or the error code of the last attempt',
          }),
          deliveries: Type.Integer(),
          oldestDueAt: Instant,
        },
        { title: 'WaitingDeliveries' },
      ),
      { description: 'Deliveries that are due and still open, by reason, the most frequent first' },
    ),
    isComplete: Type.Boolean({ description: 'False when `waiting` covers only the 10,000 longest due posts' }),
    deadLetters: Type.Integer(),
  },
  { title: 'Queues' },
)
