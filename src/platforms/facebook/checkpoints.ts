import type { Checkpoints } from '../contract.ts'

/** The checkpoint of a post or video that only people with a role on the page can see. An empty one means that it must be created again. */
export interface Draft {
  id: string
  createdAt: number
  /** The field that states whether it is published. A call that sets it publishes the draft. */
  field: 'is_published' | 'published'
  permalink?: string | undefined
  /** Facebook has processed it. */
  isReady: boolean
}

const DRAFT = 'draft'
/** Set when the page refused a draft, so that the visible call carries the content. */
const DIRECT = 'direct'
/** Set when Facebook refused the preview of the link. */
const WITHOUT_LINK = 'withoutLink'

export function findDraft(checkpoints: Pick<Checkpoints, 'get'>): Draft | null {
  const stored = checkpoints.get(DRAFT)
  return stored ? (JSON.parse(stored) as Draft) : null
}

export const storeDraft = (checkpoints: Pick<Checkpoints, 'save'>, draft: Draft | null): Promise<void> =>
  checkpoints.save(DRAFT, draft ? JSON.stringify(draft) : '')

export const isDirect = (checkpoints: Pick<Checkpoints, 'get'>): boolean => checkpoints.get(DIRECT) === 'true'

export const publishDirectly = (checkpoints: Pick<Checkpoints, 'save'>): Promise<void> =>
  checkpoints.save(DIRECT, 'true')

export const isWithoutLink = (checkpoints: Pick<Checkpoints, 'get'>): boolean =>
  checkpoints.get(WITHOUT_LINK) === 'true'

export const leaveOutLink = (checkpoints: Pick<Checkpoints, 'save'>): Promise<void> =>
  checkpoints.save(WITHOUT_LINK, 'true')
