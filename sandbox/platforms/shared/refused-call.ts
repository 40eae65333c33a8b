import type { SandboxResponse } from '../proxied-platform.ts'

/**
 * Thrown by a handler of a simulator to send this response. Each simulator has its own subclass with its server's
 * wording.
 */
export class RefusedCall extends Error {
  readonly answer: SandboxResponse
  constructor(answer: SandboxResponse) {
    super(`refused with ${answer.status}`)
    this.answer = answer
  }
}
