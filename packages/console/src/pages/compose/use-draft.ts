import { useEffect, useRef, useState } from 'react'
import { useUser } from '../../session/session.ts'
import { isEmpty, isSame, withGiven, type Draft, type Given } from './draft.ts'
import { createIdempotencyKey, forgetUnsaved, readUnsaved, unsavedKey, writeUnsaved, type Unsaved } from './unsaved.ts'

interface DraftOptions {
  /** Absent for a new post. */
  postId?: string | undefined
  /** The content as the service has it now, or that of an empty post. */
  stored: Draft
  given?: Given | undefined
}

/** The draft on the page. It survives a reload until it is stored, and knows whether the stored post was changed meanwhile. */
export function useDraft({ postId, stored, given = {} }: DraftOptions) {
  const key = unsavedKey(useUser()._id, postId)
  const [restored, setRestored] = useState(() => readUnsaved(key))
  const [base, setBase] = useState(restored?.base ?? stored)
  const [draft, setDraft] = useState(() => {
    const isGiven = restored !== null && JSON.stringify(restored.given) === JSON.stringify(given)
    return isGiven ? restored.draft : withGiven(restored?.draft ?? stored, given)
  })
  /** The input that the newer version replaced. */
  const [replaced, setReplaced] = useState<Draft | null>(null)
  const sent = useRef<Unsaved['sent']>(restored?.sent)
  const isStored = useRef(false)

  const isTyped = postId === undefined ? !isEmpty(draft) : !isSame(draft, base)
  const save = () => writeUnsaved(key, { draft, base, given, sent: sent.current })
  const isChanged = postId !== undefined && !isSame(base, stored)
  const isConflict = isChanged && isTyped && !isSame(draft, stored)
  // Without anything typed over it, the newer version is what is edited.
  if (isChanged && !isConflict) {
    setBase(stored)
    setDraft(stored)
  }
  useEffect(() => {
    if (isStored.current) return
    if (isTyped) save()
    else forgetUnsaved(key)
    // `save` changes with these.
  }, [draft, base, isTyped, key])

  return {
    draft,
    setDraft,
    isRestored: restored !== null && isTyped,
    discard: () => {
      setRestored(null)
      setBase(stored)
      setDraft(withGiven(stored, given))
    },
    /** The stored post is no longer what was typed over. */
    isConflict,
    keepMine: () => setBase(stored),
    loadTheirs: () => {
      setReplaced(draft)
      setRestored(null)
      setBase(stored)
      setDraft(stored)
    },
    bringBack:
      replaced &&
      (() => {
        setDraft(replaced)
        setReplaced(null)
      }),
    /** Returns the idempotency key of a content: the same one until it is stored, also after a reload. */
    keyFor: (content: string): string => {
      if (sent.current?.content !== content) sent.current = { content, key: createIdempotencyKey() }
      save()
      return sent.current.key
    },
    /** Call it when the input is stored; the copy in the browser is removed. */
    finish: () => {
      isStored.current = true
      forgetUnsaved(key)
    },
    /** A copy of the draft is stored; the draft itself is still not. */
    finishCopy: () => {
      sent.current = undefined
      if (isTyped) save()
      else forgetUnsaved(key)
    },
  }
}

export type DraftState = ReturnType<typeof useDraft>
