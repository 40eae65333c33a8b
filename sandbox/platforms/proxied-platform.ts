import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http'

/** A post as the public sees it on the platform. */
export interface LedgerEntry {
  id: string
  account: string
  text: string
  media: { type: string; altText: string }[]
  createdAt: string
  /** The id of the post that a reply or a comment is below. */
  replyTo?: string
  /** The texts of its edits, oldest first; absent while it was never edited. */
  edits?: string[]
}

export interface PublishedElsewhere {
  id: string
  /** The URL that our service would report. */
  url: string
}

export interface SandboxResponse {
  status: number
  headers?: OutgoingHttpHeaders
  body?: unknown
}

/** The platform-specific part of the control interface. Ids are the platform's own. */
export interface ProxiedPlatform {
  /** Reads the server at every call, without a cache. */
  ledger(): Promise<LedgerEntry[]>
  /** Ends every session of the account immediately; a new login still works. False: no such account. */
  revoke?(account: string): Promise<boolean>
  /** Expires the account's access tokens; their sessions can be renewed. */
  expire?(account: string): Promise<boolean>
  deletePost?(id: string): Promise<boolean>
  setPostMetrics?(id: string, metrics: Record<string, number>): Promise<boolean>
  setAccountMetrics?(account: string, metrics: Record<string, number>): Promise<boolean>
  /** Publishes as the account's owner does on the platform itself, now or in the past. Null: no such account. */
  publishElsewhere?(account: string, post: { text: string; createdAt: Date }): Promise<PublishedElsewhere | null>
  /** Returns a response in place of the server, for refusals that the server itself cannot produce. */
  refuse?(request: IncomingMessage): SandboxResponse | undefined
  /** Returns the account whose token the request carries, without verifying the token. */
  accountOf?(request: IncomingMessage): string | null
  /** Returns whether a call makes a post visible; its body is then read for the request log. */
  publishes?(method: string, path: string): boolean
  /** Returns the post's text in the body of such a call, or of the prepared post that it publishes; undefined when it publishes nothing. */
  textOf?(body: string, path: string): string | undefined
  /** Additional controls of this platform. */
  controls?: Control[]
}

export interface LoggedRequest {
  method: string
  /** The path with its query string. */
  path: string
  /** The platform's id of the account whose token the request carried. */
  account: string | null
  /** Null when there was none; the request was then refused. */
  userAgent: string | null
  /** When the request's head arrived, ISO 8601 with milliseconds. */
  receivedAt: string
  /** The status of the platform's response, even if a fault withheld it; null without a response. */
  status: number | null
  /** For calls that make a post visible: the post's text, once the body has arrived. */
  text?: string
}

/** Thrown by a control to respond with this status. */
export class ControlError extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

export interface ControlCall {
  /** The part of the path that the pattern captured. */
  id: string
  body(): Promise<unknown>
}

/** Returns the response body, or undefined for a default one. */
export type Control = [method: string, path: RegExp, act: (call: ControlCall) => unknown]
