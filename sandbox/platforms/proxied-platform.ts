import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http'

/** A post as the public sees it on the platform. */
export interface LedgerEntry {
  id: string
  account: string
  text: string
  media: { type: string; altText: string }[]
  createdAt: string
}

export interface PublishedElsewhere {
  id: string
  /** Where our service would say that it is. */
  url: string
}

export interface SandboxResponse {
  status: number
  headers?: OutgoingHttpHeaders
  body?: unknown
}

/** What differs from platform to platform behind the one control interface. Ids are the platform's own. */
export interface ProxiedPlatform {
  /** Asked from the server itself at every call, never remembered. */
  ledger(): Promise<LedgerEntry[]>
  /** Ends every session of the account at once; its credentials stay good for a new one. False: no such account. */
  revoke?(account: string): Promise<boolean>
  /** Ends the access tokens of the account; their sessions may be renewed. */
  expire?(account: string): Promise<boolean>
  deletePost?(id: string): Promise<boolean>
  setPostMetrics?(id: string, metrics: Record<string, number>): Promise<boolean>
  setAccountMetrics?(account: string, metrics: Record<string, number>): Promise<boolean>
  /** As the account's owner does on the platform itself, now or some time ago. Null: no such account. */
  publishElsewhere?(account: string, post: { text: string; createdAt: Date }): Promise<PublishedElsewhere | null>
  /** An answer to give in the server's place, for what the server itself cannot be told to refuse. */
  refuse?(request: IncomingMessage): SandboxResponse | undefined
  /** Whose token the request carries; unchecked. */
  accountOf?(request: IncomingMessage): string | null
  /** Whether such a call makes a post visible: its body is then read for the request log. */
  publishes?(method: string, path: string): boolean
  /** The text of the post that the body of such a call carries. */
  textOf?(body: string): string | undefined
  /** What its control interface has beside what all have. */
  controls?: Control[]
}

export interface LoggedRequest {
  method: string
  /** With the query string. */
  path: string
  /** The platform's id of the account whose token it carried. */
  account: string | null
  /** Null when there was none: the request was then refused. */
  userAgent: string | null
  /** When the request's head arrived, ISO 8601 with milliseconds. */
  receivedAt: string
  /** What the platform answered, even if a fault kept the answer from the client; null while or when there was none. */
  status: number | null
  /** Of a call that makes a post visible: the post's text, once its body has arrived. */
  text?: string
}

/** Thrown by a control: it answers this status. */
export class ControlError extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

export interface ControlCall {
  /** What the path's pattern caught. */
  id: string
  body(): Promise<unknown>
}

/** Answers what to send, or nothing where there is nothing to say. */
export type Control = [method: string, path: RegExp, act: (call: ControlCall) => unknown]
