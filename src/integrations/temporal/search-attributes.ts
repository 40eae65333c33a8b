import { isGrpcServiceError, ServiceError, type Connection, type WorkflowClient } from '@temporalio/client'
import {
  encodeSearchAttributeIndexedValueType,
  TypedSearchAttributes,
} from '@temporalio/common/lib/search-attributes.js'
import type { Post } from '../../domain/posts/post.ts'
import type { PublishPlan } from '../../domain/posts/publish-plan.ts'
import { MINUTE } from '../../domain/shared/times.ts'
import {
  DUE_AT,
  PLATFORM_NAMES,
  POST_STATUS,
  SEARCH_ATTRIBUTES,
  USER_ID,
} from '../../workflows/contract/search-attributes.ts'

/** How long workflows start without the attributes after Temporal did not know them. */
const RETRY_AFTER_MS = 5 * MINUTE
/** gRPC: invalid argument. */
const INVALID_ARGUMENT = 3

/** The search attributes of a post's workflow at its start. */
export function toAttributes(post: Post, plan: PublishPlan): TypedSearchAttributes {
  return new TypedSearchAttributes([
    { key: POST_STATUS, value: post.status },
    { key: USER_ID, value: post.userId },
    { key: PLATFORM_NAMES, value: plan.platforms.map(({ platform }) => platform) },
    { key: DUE_AT, value: new Date(plan.dueAt) },
  ])
}

/** The ids of open post workflows whose post was due before `dueBefore`. */
export async function listOpenPosts(workflows: WorkflowClient, dueBefore: Date, limit: number): Promise<string[]> {
  const query = `WorkflowType = 'publishPost' AND ExecutionStatus = 'Running' AND ${DUE_AT.name} < '${dueBefore.toISOString()}'`
  const ids: string[] = []
  for await (const { workflowId } of workflows.list({ query, pageSize: limit })) {
    ids.push(workflowId)
    if (ids.length === limit) break
  }
  return ids
}

/** Creates the missing search attributes in the namespace. */
export async function createSearchAttributes({ operatorService }: Connection, namespace: string): Promise<void> {
  const { customAttributes } = await operatorService.listSearchAttributes({ namespace })
  const missing = SEARCH_ATTRIBUTES.filter(({ name }) => !(name in customAttributes))
  if (missing.length === 0) return
  const searchAttributes = Object.fromEntries(
    missing.map(({ name, type }) => [name, encodeSearchAttributeIndexedValueType(type)!]),
  )
  await operatorService.addSearchAttributes({ namespace, searchAttributes })
}

/**
 * Starts workflows with search attributes, or without them for a while when Temporal does not know them: posts must not wait
 * for attributes that only operators use.
 */
export function createAttributedStart(onUnknown: (error: unknown) => void) {
  let untaggedUntil = 0

  return async function startTagged<T>(
    attributes: TypedSearchAttributes,
    start: (options: { typedSearchAttributes?: TypedSearchAttributes }) => Promise<T>,
  ): Promise<T> {
    if (Date.now() < untaggedUntil) return start({})
    try {
      return await start({ typedSearchAttributes: attributes })
    } catch (error) {
      if (!isUnknownAttribute(error)) throw error
      untaggedUntil = Date.now() + RETRY_AFTER_MS
      onUnknown(error)
      return start({})
    }
  }
}

function isUnknownAttribute(error: unknown): boolean {
  const cause = error instanceof ServiceError ? error.cause : error
  return isGrpcServiceError(cause) && cause.code === INVALID_ARGUMENT && /search attribute/i.test(cause.details)
}
