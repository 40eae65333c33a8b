import { randomId, readLocalStorageValue } from '@mantine/hooks'
import { emptyDraft, type Draft, type Given } from './draft.ts'

/** An input that is not stored on the server yet, with the state that a restored page continues from. */
export interface Unsaved {
  draft: Draft
  /** The content that was edited: when the stored post differs from it, it was changed elsewhere. */
  base: Draft
  /** The values of the page's address that the post has already. */
  given?: Given | undefined
  /** The last content that was sent, with its idempotency key: sending it again after a lost response makes no second post. */
  sent?: { content: string; key: string } | undefined
}

/** One entry for a new post and for each post that is edited. No user sees what another one typed in the same browser. */
export const unsavedKey = (userId: string, postId = 'new') => `postonce.unsaved.${userId}.${postId}`

export function readUnsaved(key: string): Unsaved | null {
  const unsaved = readLocalStorageValue<Unsaved | null>({ key, defaultValue: null })
  return unsaved && { ...unsaved, draft: complete(unsaved.draft), base: complete(unsaved.base) }
}

/** An earlier version of this page stored fewer parts. */
const complete = (draft: Draft): Draft => ({ ...emptyDraft([]), ...draft })

export function writeUnsaved(key: string, unsaved: Unsaved): void {
  try {
    localStorage.setItem(key, JSON.stringify(unsaved))
  } catch {
    // A full or forbidden storage: the text is still on the page.
  }
}

export function forgetUnsaved(key: string): void {
  localStorage.removeItem(key)
}

/** Browsers have `crypto.randomUUID` only on secure pages. */
export const createIdempotencyKey = () => `${Date.now()}-${randomId()}`
