import type { SandboxResponse } from '../proxied-platform.ts'

/** Thrown by whatever handles a call of a simulator: this is the answer. Each simulator has a kind of its own, in its server's words. */
export class RefusedCall extends Error {
  readonly answer: SandboxResponse
  constructor(answer: SandboxResponse) {
    super(`refused with ${answer.status}`)
    this.answer = answer
  }
}
