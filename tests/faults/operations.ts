import type { Operation } from './judge/evidence.ts'

export interface Answer {
  status: number
  body: unknown
}

/** The fields of an operation that are known when its request is sent. */
type Invocation = Pick<Operation, 'kind' | 'userId'> & Partial<Pick<Operation, 'postId' | 'input' | 'process'>>

/** Creates a log that records every request of a run with its response for the judge. `write` gets each finished operation. */
export function createOperationLog(write: (operation: Operation) => void = () => {}) {
  const operations: Operation[] = []

  return {
    operations,

    /** Sends a request and records it. Returns null without a response: any error of `send` counts as a broken connection. */
    async record(invocation: Invocation, send: () => Promise<Answer>): Promise<Answer | null> {
      const operation: Operation = { postId: null, ...invocation, sentAt: Date.now(), answeredAt: null, status: null }
      operations.push(operation)
      const answer = await send().catch(() => null)
      if (answer) {
        operation.answeredAt = Date.now()
        operation.status = answer.status
        operation.body = answer.body
        if (invocation.kind === 'create') operation.postId = readPostId(answer.body)
      }
      write(operation)
      return answer
    },
  }
}

export type OperationLog = ReturnType<typeof createOperationLog>

function readPostId(body: unknown): string | null {
  return (body as { data?: { postId?: string } } | null)?.data?.postId ?? null
}
