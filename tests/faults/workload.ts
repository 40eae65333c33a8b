import { marked, type Wish } from './judge/evidence.ts'
import type { Random } from './random.ts'

/** One thing a user does, at its time. Later steps name the post by the number of its create. */
export interface Step {
  /** Milliseconds after the run began. */
  atMs: number
  user: number
  /** Which API process is asked. */
  api: number
  post: number
  act:
    | { kind: 'create'; wish: Wish; inMs: number | null }
    | { kind: 'edit'; wish: Wish; inMs: number | null | undefined }
    | { kind: 'cancel' | 'retry' | 'delete' | 'read' }
}

export interface WorkloadSize {
  users: number
  posts: number
  lengthMs: number
  apis: number
}

const LATEST_AFTER_MS = 6_000
const ACTS = { edit: 3, reschedule: 2, publish: 2, cancel: 3, retry: 3, delete: 1, read: 4 }

/** What the users of a run do, from nothing but chance. Instants are counted from when a request is sent. */
export function planWorkload(random: Random, { users, posts, lengthMs, apis }: WorkloadSize): Step[] {
  const steps: Step[] = []
  for (let post = 0; post < posts; post++) {
    const user = random.between(0, users - 1)
    const atMs = random.between(0, lengthMs)
    const kind = random.weighted({ now: 4, later: 5, draft: 2 })
    const inMs = kind === 'later' || (kind === 'draft' && random.chance(0.5)) ? random.between(500, 8_000) : null
    // Now and then two posts with the very same words.
    const marker = random.chance(0.1) ? `twin-${user}` : `p${post}`
    steps.push({
      atMs,
      user,
      post,
      api: random.between(0, apis - 1),
      act: {
        kind: 'create',
        inMs,
        wish: {
          text: marked(marker, 'as it was created'),
          platforms: ['bluesky'],
          ...(kind === 'draft' ? { status: 'DRAFT' } : {}),
          ...(random.chance(0.6) ? { idempotencyKey: `key-${post}` } : {}),
        },
      },
    })
    const more = random.between(0, kind === 'draft' ? 3 : 2)
    for (let later = 0; later < more; later++) {
      steps.push({
        atMs: atMs + random.between(50, LATEST_AFTER_MS),
        user,
        post,
        api: random.between(0, apis - 1),
        act: nextAct(random, marker, `${post}.${later}`, kind === 'draft' && later === 0),
      })
    }
  }
  return steps.sort((a, b) => a.atMs - b.atMs)
}

function nextAct(random: Random, marker: string, name: string, isDraft: boolean): Step['act'] {
  const kind = isDraft ? 'publish' : random.weighted(ACTS)
  switch (kind) {
    case 'edit':
      // Equal words stay equal, or they could not be told apart from each other's edits.
      return marker.startsWith('twin')
        ? { kind: 'read' }
        : { kind, wish: { text: marked(marker, `edited ${name}`) }, inMs: undefined }
    case 'reschedule':
      return { kind: 'edit', wish: {}, inMs: random.chance(0.2) ? null : random.between(300, 6_000) }
    case 'publish':
      return { kind: 'edit', wish: { status: 'SCHEDULED' }, inMs: random.between(300, 5_000) }
    case 'cancel':
    case 'retry':
    case 'delete':
    case 'read':
      return { kind }
  }
}
