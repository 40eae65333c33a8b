import { ServiceError } from './service-error.ts'

/** How far a user's allowance is spent (spec section 8). */
export interface Allowance {
  used: number
  limit: number
}

/** The refusal of a post beyond the plan's allowance (contract section 4). */
export function postLimitReached({ used, limit }: Allowance): ServiceError {
  return new ServiceError('POST_LIMIT_REACHED', `Post limit of your plan reached (${used}/${limit})`, {
    details: { usage: used, limit },
  })
}
