import { ServiceError, type ServiceErrorCode } from '../shared/service-error.ts'
import type { Limits, Usage } from './subscription.ts'

/** Used and available amount of a plan's allowance. */
export interface Allowance {
  used: number
  limit: number
}

/** The allowances of a plan: the fields that count them, and the error when one is used up. */
export const ALLOWANCES = {
  posts: { usage: 'postsCreated', limit: 'maxPosts', code: 'POST_LIMIT_REACHED', label: 'Post' },
  captions: {
    usage: 'captionGenerations',
    limit: 'maxCaptionGenerations',
    code: 'CAPTION_LIMIT_REACHED',
    label: 'Caption',
  },
} as const satisfies Record<string, { usage: keyof Usage; limit: keyof Limits; code: ServiceErrorCode; label: string }>

export type AllowanceKind = keyof typeof ALLOWANCES

export function getAllowance(kind: AllowanceKind, user: { usage: Usage; limits: Limits }): Allowance {
  const { usage, limit } = ALLOWANCES[kind]
  return { used: user.usage[usage], limit: user.limits[limit] }
}

/**
 * Returns the error for a request that exceeds the plan's allowance.
 * @param draftId a draft that has the share of the post that the request is about
 */
export function toLimitError(kind: AllowanceKind, { used, limit }: Allowance, draftId?: string): ServiceError {
  const { code, label } = ALLOWANCES[kind]
  const nextStep =
    draftId === undefined
      ? 'Upgrade your plan or contact support.'
      : 'The draft that was made from this post has its share. Publish or delete that draft, or upgrade your plan.'
  return new ServiceError(code, `${label} limit of your plan reached (${used}/${limit}). ${nextStep}`, {
    details: { usage: used, limit, ...(draftId !== undefined && { postIds: [draftId] }) },
  })
}
