import type { Target } from '../../src/domain/posts/targets.ts'
import type { Platform } from '../../src/domain/shared/platforms.ts'
import { marked, type PostInput } from './judge/evidence.ts'
import type { FaultPlatform } from './platforms.ts'
import type { Random } from './random.ts'

/** One action of a user at a time of the run. All steps of a post have its number. */
export interface Step {
  /** Milliseconds after the start of the run. */
  atMs: number
  user: number
  /** The number of the API process that gets the request. */
  api: number
  post: number
  /** `inMs` is the due time after the request: null means now, and undefined leaves it unchanged. */
  action:
    | { kind: 'create'; input: PostInput; inMs: number | null }
    | { kind: 'edit'; input: PostInput; inMs: number | null | undefined }
    | { kind: 'cancel' | 'retry' | 'delete' | 'read' }
}

export interface WorkloadSize {
  users: number
  posts: number
  lengthMs: number
  apis: number
  platforms: Pick<FaultPlatform, 'platform' | 'needsMedia'>[]
}

/** The longest time between a create and a later step of its post. */
const MAX_STEP_DELAY_MS = 6_000
const ACTION_WEIGHTS = { edit: 3, reschedule: 2, publish: 2, cancel: 3, retry: 3, delete: 1, read: 4 }

/** Plans the steps of the users, in order of time. Only the random numbers decide. */
export function planWorkload(random: Random, { users, posts, lengthMs, apis, platforms }: WorkloadSize): Step[] {
  const steps: Step[] = []
  for (let post = 0; post < posts; post++) {
    const user = random.between(0, users - 1)
    const atMs = random.between(0, lengthMs)
    const kind = random.weighted({ now: 4, later: 5, draft: 2 })
    const inMs = kind === 'later' || (kind === 'draft' && random.chance(0.5)) ? random.between(500, 8_000) : null
    // Some posts of a user have the same marker and text.
    const marker = random.chance(0.1) ? `twin-${user}` : `p${post}`
    const destinations = chooseDestinations(random, marker, platforms)
    steps.push({
      atMs,
      user,
      post,
      api: random.between(0, apis - 1),
      action: {
        kind: 'create',
        inMs,
        input: {
          text: marked(marker, 'as it was created'),
          ...destinations,
          ...(kind === 'draft' ? { status: 'DRAFT' } : {}),
          ...(random.chance(0.6) ? { idempotencyKey: `key-${post}` } : {}),
        },
      },
    })
    const followUps = random.between(0, kind === 'draft' ? 3 : 2)
    for (let index = 0; index < followUps; index++) {
      steps.push({
        atMs: atMs + random.between(50, MAX_STEP_DELAY_MS),
        user,
        post,
        api: random.between(0, apis - 1),
        action: chooseAction(random, marker, destinations, `${post}.${index}`, kind === 'draft' && index === 0),
      })
    }
  }
  return steps.sort((a, b) => a.atMs - b.atMs)
}

type Destinations = Pick<PostInput, 'platforms' | 'accounts' | 'overrides' | 'withImage'>

/** Stands for the id of a user's further account on a platform, which a plan cannot know. */
export const furtherOn = (platform: Platform): string => `further on ${platform}`

/**
 * Chooses accounts: of each chosen platform the default one, the further one, or both. Sometimes one of them has a text of its own.
 * A post has an image where a platform needs one, or by chance.
 */
function chooseDestinations(random: Random, marker: string, all: WorkloadSize['platforms']): Destinations {
  const share = random.oneOf([0.2, 0.5, 1])
  const candidates = all.filter(() => random.chance(share))
  const chosen = candidates.length > 0 ? candidates : [random.oneOf(all)]
  const choices = chosen.map(({ platform }) => ({ platform, ...random.oneOf(ACCOUNT_CHOICES) }))
  const platforms = choices.flatMap(({ platform, isOnDefault }) => (isOnDefault ? platform : []))
  const accounts = choices.flatMap(({ platform, isOnFurther }) => (isOnFurther ? furtherOn(platform) : []))
  const overridden = random.chance(0.3) ? random.oneOf([...platforms, ...accounts]) : null
  return {
    platforms,
    accounts,
    ...(overridden ? { overrides: overrideFor(overridden, marker) } : {}),
    ...(chosen.some(({ needsMedia }) => needsMedia) || random.chance(0.2) ? { withImage: true } : {}),
  }
}

const ACCOUNT_CHOICES = [
  { isOnDefault: true, isOnFurther: false },
  { isOnDefault: true, isOnFurther: true },
  { isOnDefault: false, isOnFurther: true },
]

function overrideFor(target: Target, marker: string): NonNullable<PostInput['overrides']> {
  return { [target]: marked(marker, `for ${target} alone`) }
}

function chooseAction(
  random: Random,
  marker: string,
  { withImage }: Destinations,
  name: string,
  isDraft: boolean,
): Step['action'] {
  const kind = isDraft ? 'publish' : random.weighted(ACTION_WEIGHTS)
  switch (kind) {
    case 'edit':
      // Posts with the same marker are not edited: the judge could not identify the edited one.
      return marker.startsWith('twin')
        ? { kind: 'read' }
        : {
            kind,
            input: { text: marked(marker, `edited ${name}`), ...(withImage ? { withImage } : {}) },
            inMs: undefined,
          }
    case 'reschedule':
      return { kind: 'edit', input: {}, inMs: random.chance(0.2) ? null : random.between(300, 6_000) }
    case 'publish':
      return { kind: 'edit', input: { status: 'SCHEDULED' }, inMs: random.between(300, 5_000) }
    case 'cancel':
    case 'retry':
    case 'delete':
    case 'read':
      return { kind }
  }
}
