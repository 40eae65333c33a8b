import type { components } from '@postonce/sdk'
import * as z from 'zod/v4'
import type { Creation } from '../creations.ts'
import { presentDelivery } from '../present.ts'
import { InputProblem } from '../problems.ts'
import {
  accountId,
  contentFields,
  holdSeconds,
  idempotencyKey,
  ifMatch,
  platform,
  postId,
  scheduledAt,
  toContentBody,
  toCreateBody,
} from '../schemas.ts'
import { defineTool } from './tool.ts'

type Schemas = components['schemas']

const DRAFT = { status: 'DRAFT' } as const

export const checkPost = defineTool({
  name: 'check_post',
  title: 'Check a post',
  description:
    'Returns every error and warning that a post would get, and its length on each platform. Creates nothing.',
  scope: 'posts:draft',
  effect: 'read',
  isIdempotent: true,
  input: z.strictObject({ ...contentFields, scheduledAt: scheduledAt.optional() }),
  run: (args, { client }, signal) =>
    client.posts.validate({ ...toCreateBody(args), ...toFutureTime(args) }, { signal }),
})

export const draftPost = defineTool({
  name: 'draft_post',
  title: 'Save a draft',
  description: 'Saves a post as a draft. A draft is not published until the user or publish_draft does it.',
  scope: 'posts:draft',
  effect: 'add',
  isIdempotent: true,
  input: z.strictObject({ ...contentFields, scheduledAt: scheduledAt.optional(), idempotencyKey }),
  run: async (args, { creations }, signal) =>
    presentCreation(
      await creations.create({ ...toCreateBody(args), ...toFutureTime(args), ...DRAFT }, args.idempotencyKey, signal),
    ),
})

export const publishPost = defineTool({
  name: 'publish_post',
  title: 'Publish a post now',
  description:
    'Publishes a new post immediately, for everyone to see. The user has to agree first. Read the outcome with wait_for_post.',
  scope: 'posts:publish',
  effect: 'publish',
  isIdempotent: true,
  input: z.strictObject({ ...contentFields, holdSeconds, idempotencyKey }),
  run: async (args, { creations }, signal) =>
    presentCreation(await creations.create({ ...toCreateBody(args), ...toHold(args) }, args.idempotencyKey, signal)),
})

export const schedulePost = defineTool({
  name: 'schedule_post',
  title: 'Schedule a post',
  description: 'Schedules a new post. It is published at its time without a further call; cancel_post prevents that.',
  scope: 'posts:publish',
  effect: 'publish',
  isIdempotent: true,
  input: z.strictObject({ ...contentFields, scheduledAt, idempotencyKey }),
  run: async (args, { creations }, signal) =>
    presentCreation(
      await creations.create({ ...toCreateBody(args), ...toFutureTime(args) }, args.idempotencyKey, signal),
    ),
})

export const publishDraft = defineTool({
  name: 'publish_draft',
  title: 'Publish a draft',
  description:
    'Publishes a draft: at `scheduledAt`, else at the time that the draft has, else immediately. The user has to agree first.',
  scope: 'posts:publish',
  effect: 'publish',
  isIdempotent: true,
  input: z.strictObject({ postId, scheduledAt: scheduledAt.optional(), holdSeconds, ifMatch }),
  run: (args, { client }, signal) =>
    client.posts.update(
      args.postId,
      { status: 'PENDING', ...toFutureTime(args), ...toHold(args) },
      toEdit(args, signal),
    ),
})

export const updatePost = defineTool({
  name: 'update_post',
  title: 'Change a post',
  description:
    'Changes a draft, or a post whose delivery has not begun. Fields that are not passed stay unchanged. `platformTexts` replaces all texts for single platforms.',
  scope: 'posts:draft',
  effect: 'change',
  isIdempotent: true,
  input: z.strictObject({
    postId,
    ...contentFields,
    text: contentFields.text.optional(),
    scheduledAt: scheduledAt.optional(),
    ifMatch,
  }),
  run: (args, { client }, signal) =>
    client.posts.update(args.postId, { ...toContentBody(args), ...toFutureTime(args) }, toEdit(args, signal)),
})

export const cancelPost = defineTool({
  name: 'cancel_post',
  title: 'Cancel a post',
  description:
    'Cancels a post that was not sent yet, or with `accounts` only the waiting deliveries of one that others have. What is public stays; take_back_post removes it.',
  scope: 'posts:publish',
  effect: 'change',
  isIdempotent: true,
  input: z.strictObject({
    postId,
    accounts: z.array(accountId).min(1).optional().describe('Ends only the waiting deliveries to these accounts'),
  }),
  run: ({ postId: id, accounts }, { client }, signal) =>
    client.posts.cancel(id, accounts ? { accounts } : {}, { signal }),
})

export const retryPost = defineTool({
  name: 'retry_post',
  title: 'Retry failed deliveries',
  description:
    'Sends a post again to the accounts on which it failed: the rest of a thread, and a failed first comment. Accounts that already have the whole post are left out.',
  scope: 'posts:publish',
  effect: 'publish',
  isIdempotent: false,
  input: z.strictObject({
    postId,
    accounts: z.array(accountId).min(1).optional().describe('Retries only on these accounts'),
  }),
  run: ({ postId: id, accounts }, { client }, signal) =>
    client.posts.retry(id, accounts ? { accounts } : {}, { signal }),
})

export const takeBackPost = defineTool({
  name: 'take_back_post',
  title: 'Remove a published post',
  description:
    'Removes a published post from its platforms, with all posts of a thread and the comment. The user has to agree first. It goes on after the call: read `removal` with get_post, which also says what the user has to delete by hand.',
  scope: 'posts:publish',
  effect: 'publish',
  isIdempotent: true,
  input: z.strictObject({
    postId,
    accounts: z.array(accountId).min(1).optional().describe('Removes it only from these accounts'),
  }),
  run: async ({ postId: id, accounts }, { client }, signal) => {
    return presentChanged(await client.posts.takeBack(id, accounts ? { accounts } : {}, { signal }))
  },
})

export const editPublishedPost = defineTool({
  name: 'edit_published_post',
  title: 'Edit a published post',
  description:
    'Replaces the text of a published post on its platforms, of a thread that of its first post. The user has to agree first. Without `accounts`, every account of the post is edited; if one cannot be, none is, and the error says why. It goes on after the call: read `edit` with get_post.',
  scope: 'posts:publish',
  effect: 'publish',
  isIdempotent: true,
  input: z.strictObject({
    postId,
    text: z.string().min(1).max(100_000).describe('The whole new text'),
    accounts: z.array(accountId).min(1).optional().describe('Edits it only on these accounts'),
  }),
  run: async ({ postId: id, text, accounts }, { client }, signal) => {
    const body = { content: { text }, ...(accounts ? { accounts } : {}) }
    return presentChanged(await client.posts.editPublished(id, body, { signal }))
  },
})

export const generateCaptions = defineTool({
  name: 'generate_captions',
  title: 'Generate captions',
  description:
    'Generates captions with the caption provider of the service. Each call counts against the plan of the user; write texts yourself unless the user asks for this.',
  scope: 'captions:generate',
  effect: 'add',
  isIdempotent: false,
  input: z.strictObject({
    prompt: z.string().min(1).max(2_000).describe('The topic'),
    text: z.string().max(100_000).optional().describe('The current text of the post'),
    tone: z.string().max(50).optional().describe('For example professional, casual or funny'),
    platform: platform.optional().describe('Fits the captions to this platform'),
  }),
  run: ({ platform: name, prompt, text, tone }, { client }, signal) => {
    const body = { prompt, ...(text === undefined ? {} : { text }), ...(tone === undefined ? {} : { tone }) }
    return client.request('POST', name ? `/api/generate/captions/${name}` : '/api/generate/captions', { body, signal })
  },
})

/**
 * Returns the time as the API takes it.
 * @throws InputProblem for a time in the past: the API would publish immediately
 */
function toFutureTime({ scheduledAt: time }: { scheduledAt?: string | undefined }): { scheduledAt?: string } {
  if (time === undefined) return {}
  const now = new Date()
  if (Date.parse(time) <= now.getTime()) {
    const message = `${time} is in the past. It is now ${now.toISOString()}.`
    throw new InputProblem({ path: 'scheduledAt', code: 'TIME_IN_THE_PAST', message })
  }
  return { scheduledAt: time }
}

const toHold = ({ holdSeconds: seconds }: { holdSeconds?: number | undefined }) =>
  seconds === undefined ? {} : { holdSeconds: seconds }

const toEdit = ({ ifMatch: etag }: { ifMatch?: string | undefined }, signal: AbortSignal) => ({ signal, ifMatch: etag })

const REPEATED =
  'An earlier call of this session created this post, so nothing new was created. Pass a new idempotencyKey to create the same post again.'

function presentChanged({ platformStatuses, ...post }: Schemas['ChangedPublication']) {
  return { ...post, deliveries: platformStatuses.map(presentDelivery) }
}

function presentCreation({ isRepeated, ...post }: Creation) {
  return { ...post, ...(isRepeated ? { note: REPEATED } : {}) }
}
