import { readLocalStorageValue } from '@mantine/hooks'
import type { Draft } from './draft.ts'

/** What was typed and not stored survives a reload: one entry for a new post, one for each that is edited. */
const keyOf = (postId: string | undefined) => `postonce.unsaved.${postId ?? 'new'}`

export function readUnsaved(postId: string | undefined): Draft | null {
  return readLocalStorageValue<Draft | null>({ key: keyOf(postId), defaultValue: null })
}

export function keepUnsaved(postId: string | undefined, draft: Draft): void {
  localStorage.setItem(keyOf(postId), JSON.stringify(draft))
}

export function forgetUnsaved(postId: string | undefined): void {
  localStorage.removeItem(keyOf(postId))
}
