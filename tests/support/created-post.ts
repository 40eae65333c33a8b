import { expect } from 'vitest'
import { postBody, type Caller } from './posts-api.ts'

/** Creates a post over the API, by default a text on Bluesky. Returns its id. */
export async function createdPost(caller: Caller, changes: Record<string, unknown> = {}): Promise<string> {
  const { status, body } = await caller.call('POST', '/', postBody(changes))
  expect(status).toBe(201)
  return body.data.postId
}
