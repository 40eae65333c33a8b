import type { LedgerEntry } from '../proxied-platform.ts'
import type { Comment, MetaState } from './state.ts'

/** Stores the comments of pages and professional accounts. */
export function createCommentStore({ comments }: MetaState) {
  const of = (postId: string): Comment[] => comments.values().filter((one) => one.postId === postId)

  return {
    find: comments.get,

    add(fields: Omit<Comment, 'createdAt'>): Comment {
      return comments.set(fields.id, { ...fields, createdAt: Date.now() })
    },

    /** Returns the comments below a post, newest first. */
    below: (postId: string): Comment[] => of(postId).toReversed(),

    count: (postId: string): number => of(postId).length,

    /** Deletes a comment. False: no such comment. */
    remove(id: string): boolean {
      const isThere = comments.get(id) !== undefined
      comments.delete(id)
      return isThere
    },

    /**
     * Returns the comments that the public sees, as records of their authors.
     * @param nameOf returns undefined for authors of another platform
     */
    ledger(nameOf: (authorId: string) => string | undefined, hasPost: (postId: string) => boolean): LedgerEntry[] {
      return comments.values().flatMap(({ id, postId, authorId, text, createdAt }) => {
        const account = nameOf(authorId)
        if (account === undefined || !hasPost(postId)) return []
        return [{ id, account, text, media: [], createdAt: new Date(createdAt).toISOString(), replyTo: postId }]
      })
    },
  }
}

export type CommentStore = ReturnType<typeof createCommentStore>
