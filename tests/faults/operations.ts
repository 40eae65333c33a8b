import type { Operation } from './judge/evidence.ts'

export interface Answer {
  status: number
  body: unknown
}

type Asked = Pick<Operation, 'kind' | 'userId'> & Partial<Pick<Operation, 'postId' | 'wish' | 'process'>>

/** Notes every request of a run with its answer, for the judge. */
export function createOperationLog(write: (operation: Operation) => void = () => {}) {
  const operations: Operation[] = []

  return {
    operations,

    /** Null when there was no answer: whatever `send` throws counts as a connection that broke. */
    async record(asked: Asked, send: () => Promise<Answer>): Promise<Answer | null> {
      const operation: Operation = { postId: null, ...asked, sentAt: Date.now(), answeredAt: null, status: null }
      operations.push(operation)
      const answer = await send().catch(() => null)
      if (answer) {
        operation.answeredAt = Date.now()
        operation.status = answer.status
        operation.body = answer.body
        if (asked.kind === 'create') operation.postId = postIdOf(answer.body)
      }
      write(operation)
      return answer
    },
  }
}

export type OperationLog = ReturnType<typeof createOperationLog>

function postIdOf(body: unknown): string | null {
  return (body as { data?: { postId?: string } } | null)?.data?.postId ?? null
}
