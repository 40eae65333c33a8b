import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { changeActivity } from '../../../src/commands/users/change-activity.ts'
import { CLI_ACTOR } from '../../../src/domain/users/audit.ts'
import { armLeadMs } from '../../../src/domain/posts/publish-plan.ts'
import type { PostInput } from '../../faults/judge/evidence.ts'
import type { LedgerEntry } from '../../support/platform-control.ts'
import { unique } from '../../support/servers.ts'
import { mapLimited, toCreatedId, startRaceWorld, type ApiProcess, type RaceUser, type RaceWorld } from './world.ts'

let world: RaceWorld
let api: ApiProcess

/** The changes of a post's account while the post waits. */
const CHANGES = {
  disabled: ({ user: { userId } }: Scene) => changeActivity(world.context, CLI_ACTOR, userId, false),
  disconnected: ({ user }: Scene) => api.as(user).other('DELETE', '/api/platform/bluesky/disconnect'),
  replaced: ({ user, other }: Scene) =>
    api.as(user).other('POST', '/api/platform/bluesky/connect', {
      identifier: other.handle,
      appPassword: other.appPassword,
    }),
}
/** When the change happens, in milliseconds before the scheduled time. A login at the platform takes a while. */
const MOMENTS = {
  'before it is armed': (postId: string) => armLeadMs(postId) + 1_000,
  'while it is armed': (postId: string) => armLeadMs(postId) / 2 + 1_000,
  'in the last moments': () => 500 + 1_500 * Math.random(),
}

type Change = keyof typeof CHANGES
type Moment = keyof typeof MOMENTS

interface Scene {
  change: Change
  moment: Moment
  user: RaceUser
  other: RaceUser['account']
  postId: string
  text: string
  dueAt: number
  changedAt: number
}

/** Longer than the earliest change before the scheduled time. */
const LEAD_MS = 20_000
const SAME = 3

let scenes: Scene[]
let ledger: LedgerEntry[]

beforeAll(async () => {
  world = await startRaceWorld()
  api = await world.startApi()
  const casts = (Object.keys(CHANGES) as Change[]).flatMap((change) =>
    (Object.keys(MOMENTS) as Moment[]).flatMap((moment) => Array.from({ length: SAME }, () => ({ change, moment }))),
  )
  const users = await mapLimited(casts, 3, async (cast) => ({ ...cast, ...(await addUsers()) }))
  const start = Date.now() + LEAD_MS
  const set = await mapLimited(users, 9, async (one) => ({ ...one, ...(await schedule(one.user, start)) }))
  scenes = await Promise.all(set.map(playScene))
  await world.workflowsEnd(scenes.map(({ postId }) => postId))
  ledger = await world.control.ledger()
})
afterAll(() => world?.stop())

async function addUsers(): Promise<Pick<Scene, 'user' | 'other'>> {
  const user = await world.user()
  const { account: other } = await world.user({ connected: false })
  return { user, other }
}

async function schedule(user: RaceUser, start: number) {
  const dueAt = start + Math.floor(Math.random() * 5_000)
  const input: PostInput = { text: unique('scene'), platforms: ['bluesky'], scheduledAt: dueAt }
  return { dueAt, text: input.text!, postId: toCreatedId(await api.as(user).create(input)) }
}

async function playScene(scene: Omit<Scene, 'changedAt'>): Promise<Scene> {
  await delay(Math.max(0, scene.dueAt - MOMENTS[scene.moment](scene.postId) - Date.now()))
  await CHANGES[scene.change](scene as Scene)
  return { ...scene, changedAt: Date.now() }
}

/** Returns the scenes whose change was acknowledged before the scheduled time: a few may be late on a busy machine. */
function playedInTime(change: Change, moment: Moment): Scene[] {
  const played = scenes.filter((scene) => scene.change === change && scene.moment === moment)
  const inTime = played.filter(({ changedAt, dueAt }) => changedAt < dueAt)
  expect(inTime).not.toEqual([])
  return inTime
}

const entryOf = async ({ postId }: Scene) => (await world.context.posts.find(postId))!.platformStatuses[0]
const recordsOf = ({ text }: Scene) => ledger.filter((entry) => entry.text === text)

describe.each(Object.keys(MOMENTS) as Moment[])('a post whose account changes %s', (moment) => {
  it('a post of a disabled user is not published and says why', async () => {
    for (const scene of playedInTime('disabled', moment)) {
      expect(await entryOf(scene)).toMatchObject({ status: 'failed', errorCode: 'ACCOUNT_DISABLED' })
      expect(recordsOf(scene)).toEqual([])
    }
  })

  it.each(['disconnected', 'replaced'] as const)(
    'a post of a %s account is not published and says why',
    async (change) => {
      for (const scene of playedInTime(change, moment)) {
        expect(await entryOf(scene)).toMatchObject({ status: 'failed', errorCode: 'PLATFORM_NOT_CONNECTED' })
        expect(recordsOf(scene)).toEqual([])
      }
    },
  )
})

it('a late change never splits a post: it is published on its original account, or not at all', async () => {
  for (const scene of scenes.filter(({ changedAt, dueAt }) => changedAt >= dueAt)) {
    const records = recordsOf(scene)
    const entry = await entryOf(scene)
    expect(records.map(({ id }) => id)).toEqual(entry?.status === 'completed' ? [entry.platformPostId] : [])
  }
})

it('the delivery invariants hold after account changes', async () => {
  expect(await world.verdict()).toEqual([])
})
