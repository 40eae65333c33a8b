import type { Platform } from '../../src/domain/shared/platforms.ts'
import { marked, type Wish } from './judge/evidence.ts'
import type { FaultPlatform } from './platforms.ts'
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
  platforms: Pick<FaultPlatform, 'platform' | 'needsMedia'>[]
}

const LATEST_AFTER_MS = 6_000
const ACTS = { edit: 3, reschedule: 2, publish: 2, cancel: 3, retry: 3, delete: 1, read: 4 }

/** What the users of a run do, from nothing but chance. Instants are counted from when a request is sent. */
export function planWorkload(random: Random, { users, posts, lengthMs, apis, platforms }: WorkloadSize): Step[] {
  const steps: Step[] = []
  for (let post = 0; post < posts; post++) {
    const user = random.between(0, users - 1)
    const atMs = random.between(0, lengthMs)
    const kind = random.weighted({ now: 4, later: 5, draft: 2 })
    const inMs = kind === 'later' || (kind === 'draft' && random.chance(0.5)) ? random.between(500, 8_000) : null
    // Now and then two posts with the very same words.
    const marker = random.chance(0.1) ? `twin-${user}` : `p${post}`
    const places = planPlaces(random, marker, platforms)
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
          ...places,
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
        act: nextAct(random, marker, places, `${post}.${later}`, kind === 'draft' && later === 0),
      })
    }
  }
  return steps.sort((a, b) => a.atMs - b.atMs)
}

type Places = Pick<Wish, 'platforms' | 'overrides' | 'withImage'>

/** Where a post goes, now and then with other words for one of the platforms, and with an image where there has to be one. */
function planPlaces(random: Random, marker: string, all: WorkloadSize['platforms']): Places {
  const share = random.oneOf([0.2, 0.5, 1])
  const some = all.filter(() => random.chance(share))
  const chosen = some.length > 0 ? some : [random.oneOf(all)]
  const own = random.chance(0.2) ? random.oneOf(chosen).platform : null
  return {
    platforms: chosen.map(({ platform }) => platform),
    ...(own ? { overrides: wordsFor(own, marker) } : {}),
    ...(chosen.some(({ needsMedia }) => needsMedia) || random.chance(0.2) ? { withImage: true } : {}),
  }
}

function wordsFor(platform: Platform, marker: string): NonNullable<Wish['overrides']> {
  return { [platform]: marked(marker, `for ${platform} alone`) }
}

function nextAct(random: Random, marker: string, places: Places, name: string, isDraft: boolean): Step['act'] {
  const kind = isDraft ? 'publish' : random.weighted(ACTS)
  switch (kind) {
    case 'edit':
      // Equal words stay equal, or they could not be distinguished from each other's edits.
      return marker.startsWith('twin')
        ? { kind: 'read' }
        : { kind, wish: { text: marked(marker, `edited ${name}`), ...imageOf(places) }, inMs: undefined }
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

const imageOf = ({ withImage }: Places): Pick<Wish, 'withImage'> => (withImage ? { withImage } : {})
