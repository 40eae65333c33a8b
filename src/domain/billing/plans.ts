import { ServiceError, type ServiceErrorCode } from '../shared/service-error.ts'
import type { Limits, Usage } from './subscription.ts'

/** How far a user's allowance is spent (spec section 8). */
export interface Allowance {
  used: number
  limit: number
}

/** What a plan allows so much of: where it is counted, and what the refusal is called. */
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

/** The refusal of what goes beyond the plan's allowance (contract section 4). */
export function toLimitError(kind: AllowanceKind, { used, limit }: Allowance): ServiceError {
  const { code, label } = ALLOWANCES[kind]
  return new ServiceError(code, `${label} limit of your plan reached (${used}/${limit})`, {
    details: { usage: used, limit },
  })
}
