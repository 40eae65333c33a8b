import { presentPost } from './present.ts'
import { ApiError, ConnectionError, PostonceError, type Problem } from '@postonce/sdk'

/** A refusal that an agent can act on. */
export interface ToolProblem {
  code: string
  message: string
  problems?: Problem[]
  /** The scope that the API key lacks. */
  scope?: string
  /** The post as it is now, when it has changed since it was read. */
  post?: ReturnType<typeof presentPost>
  retryAfterSeconds?: number
  /** Identifies the request in the logs of the service. */
  requestId?: string
  nextStep: string
}

/** A refusal by this server, before a request is made. */
export class InputProblem extends Error {
  readonly problem: Problem

  constructor(problem: Problem) {
    super(problem.message)
    this.problem = problem
  }
}

const CORRECT_INPUT =
  'Correct what `problems` names, then call the tool again. check_post reports all problems without creating a post.'
const READ_POST = 'Read the post with get_post. Its status does not allow this.'
const ASK_FOR_KEY = 'Do not repeat the call. Ask the user for an API key'

const NEXT_STEPS: Record<string, string> = {
  VALIDATION_FAILED: CORRECT_INPUT,
  BAD_REQUEST: CORRECT_INPUT,
  UNAUTHORIZED: `${ASK_FOR_KEY}: this one is wrong, expired or deleted.`,
  INSUFFICIENT_SCOPE: `${ASK_FOR_KEY} with the scope that \`scope\` names, or save a draft that the user publishes.`,
  POST_LIMIT_REACHED:
    'Do not repeat the call. The plan of the user has no posts left in this period. Where `message` names a draft, offer to publish that draft.',
  CAPTION_LIMIT_REACHED: 'Do not repeat the call. Write the text without this tool.',
  NOT_FOUND: 'Check the id with list_posts or list_accounts.',
  NO_FAILED_PLATFORMS: 'Nothing has failed, so there is nothing to retry. Read the post with get_post.',
  NOTHING_PUBLISHED:
    'Nothing is there to remove. Read the post with get_post; cancel_post stops a post that was not sent.',
  PRECONDITION_FAILED:
    '`post` is the post as it is now. Decide whether the change still fits, then repeat it with that etag.',
  POST_NOT_EDITABLE: READ_POST,
  POST_IN_PROGRESS: 'The delivery is in progress. Wait with wait_for_post, then decide.',
  POST_DUPLICATED: 'A draft replaced this post. Use the draft.',
  IDEMPOTENCY_MISMATCH: 'This key already created another post. Pass a new idempotencyKey for a new post.',
  RATE_LIMITED: 'Wait for `retryAfterSeconds`, then call the tool again.',
  SERVICE_UNAVAILABLE: 'Call the tool again in a minute.',
  PLATFORM_UNAVAILABLE: 'Call the tool again in a minute.',
}

/**
 * Converts an error for the agent.
 * @param repeatable true when a repeated call has no second effect
 * @throws every error that is a defect of this server
 */
export function toToolProblem(error: unknown, repeatable: boolean): ToolProblem {
  if (error instanceof InputProblem) {
    const { problem } = error
    return { code: problem.code, message: problem.message, problems: [problem], nextStep: CORRECT_INPUT }
  }
  if (error instanceof ApiError) return toApiProblem(error)
  if (error instanceof ConnectionError) {
    return { code: 'NO_RESPONSE', message: error.message, nextStep: repeatable ? REPEAT_SAFELY : READ_FIRST }
  }
  if (error instanceof PostonceError) return { code: 'REFUSED', message: error.message, nextStep: READ_POST }
  throw error
}

const REPEAT_SAFELY = 'The service may have acted. Repeat the call with the same arguments: it has no second effect.'
const READ_FIRST = 'The service may have acted. Read the post with get_post before you repeat the call.'

function toApiProblem({ code, message, problems, body, retryAfterSeconds, requestId }: ApiError): ToolProblem {
  return {
    code,
    message,
    ...(problems.length > 0 ? { problems } : {}),
    ...(body?.scope === undefined ? {} : { scope: body.scope }),
    ...(body?.post === undefined ? {} : { post: presentPost(body.post) }),
    ...(retryAfterSeconds === null ? {} : { retryAfterSeconds }),
    ...(requestId === null ? {} : { requestId }),
    nextStep: NEXT_STEPS[code] ?? (problems.length > 0 ? CORRECT_INPUT : 'Report the message to the user.'),
  }
}
