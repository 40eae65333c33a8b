import { setTimeout as delay } from 'node:timers/promises'
import sharp from 'sharp'
import type { Platform } from '../../src/domain/shared/platforms.ts'
import { platformLabel } from '../../src/domain/shared/platforms.ts'
import { SECOND } from '../../src/domain/shared/times.ts'
import { film } from '../../tests/support/film.ts'
import { LANES, measureRow } from '../bursts.ts'
import { publishBarely } from '../bare-publishing.ts'
import { figure, type Figure } from '../figure.ts'
import { closedLoop } from '../loops.ts'
import { openPlatformWorld, type Author, type MediaFile, type PlatformWorld } from '../platform-world.ts'
import { assertFlawless, judgePunctuality, type Due, type Punctuality } from '../punctuality.ts'
import { startReceiver } from '../receiver.ts'
import { openBare } from '../sides.ts'
import { median, percentile, rounded } from '../stats.ts'
import type { World } from '../world.ts'

export interface PlatformsSize {
  /** Immediate posts with a picture, each to every platform. */
  posts: number
  inFlight: number
  /** Posts that are due at one instant. */
  burst: number
  /** Users that the posts belong to. */
  users: number
  /** Posts with a picture per platform, and the same number with a video. */
  media: number
}

/** How long the platforms process a file, milliseconds. */
const PROCESSING = { image: 2 * SECOND, video: 10 * SECOND }
/** Time between creation and publication that is enough to prepare everything ahead. */
const AHEAD_MS = 45 * SECOND
/** Time between creation and publication that is too short to prepare anything ahead. */
const LAST_MOMENT_MS = 2 * SECOND
const PUBLISHED_WITHIN_MS = 240 * SECOND
const POLL_MS = 250
const PICTURE = 0
const VIDEO = 1

type Sent = Due & { platform: Platform }

/** Measures the service with all platforms of the sandbox, from the user's post to the public post. */
export async function measurePlatforms(world: World, size: PlatformsSize): Promise<Figure[]> {
  const platforms = await openPlatformWorld(world, PROCESSING)
  try {
    const files = [await picture(), { bytes: film({ bytes: 200_000 }), mimeType: 'video/mp4' }]
    const authors: Author[] = []
    for (let made = 0; made < size.users; made++) authors.push(await platforms.makeAuthor(files))
    return [
      await measureImmediate(platforms, authors, size),
      await measureBurst(world, platforms, authors, size),
      ...(await measureMedia(platforms, authors, size)),
    ]
  } finally {
    await platforms.stop()
  }
}

/** Compares immediate posts with the same adapter calls without records, claims and workflows. */
async function measureImmediate(
  world: PlatformWorld,
  authors: Author[],
  { posts, inFlight }: PlatformsSize,
): Promise<Figure> {
  const names = world.platforms
  const work = async (side: string, send: (text: string, author: Author) => Promise<unknown>) => {
    const texts = Array.from({ length: posts }, (_, index) => `${side} ${index} ${Date.now()}`)
    const startedAt = performance.now()
    await closedLoop(
      posts,
      inFlight,
      async (index) => void (await send(texts[index]!, authors[index % authors.length]!)),
    )
    const due = texts.flatMap((text) => names.map((platform) => ({ id: text, platform, dueAt: 0 })))
    const { length: calls } = (await awaitPublication(world, due)).late
    if (calls !== due.length) throw new Error(`${side}: ${calls} of ${due.length} posts are public`)
    return (posts * SECOND) / (performance.now() - startedAt)
  }
  const bare = await work('bare', (text, author) => publishBarely(world.context, author, names, text, PICTURE))
  const ours = await work('ours', (text, { media, ...author }) =>
    world.publish({ ...author, media }, { text, platforms: names, media: [media[PICTURE]!] }),
  )
  return figure({
    group: 'platforms',
    name: `immediate posts with a picture to ${names.length} simulated platforms, against bare calls for ${inFlight} at a time`,
    unit: 'posts/s',
    ours,
    baseline: bare,
    details: { posts, 'in flight': inFlight, 'pictures are processed for, ms': PROCESSING.image },
  })
}

async function measureBurst(
  world: World,
  platforms: PlatformWorld,
  authors: Author[],
  { burst }: PlatformsSize,
): Promise<Figure> {
  const dueAt = Date.now() + AHEAD_MS
  const sent: Sent[] = Array.from({ length: burst }, (_, index) => ({
    id: `burst ${index} ${dueAt}`,
    platform: platforms.platforms[index % platforms.platforms.length]!,
    dueAt,
  }))
  await schedule(platforms, authors, sent, null)
  const ours = await expectFlawless(`${burst} posts to all platforms`, platforms, sent)
  const receiver = await startReceiver()
  const bare = await openBare(world, { lanes: LANES, receiver: receiver.url })
  try {
    const [measured] = await measureRow(bare, receiver, [{ size: burst, times: 1 }])
    return figure({
      group: 'platforms',
      name: `${burst} posts of ${authors.length} users at one instant, p95`,
      unit: 'ms late',
      ours: percentile(ours.late, 0.95),
      baseline: percentile(measured!.punctuality.late, 0.95),
      details: {
        ...counted(ours),
        'p50 ms': rounded(median(ours.late)),
        'p99 ms': rounded(percentile(ours.late, 0.99)),
      },
    })
  } finally {
    await bare.stop()
    await receiver.stop()
  }
}

/** Publishes the same posts twice: once prepared ahead, and once created too late for that. */
async function measureMedia(world: PlatformWorld, authors: Author[], { media }: PlatformsSize): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const [kind, file] of [['pictures', PICTURE] as const, ['a video', VIDEO] as const]) {
    const found: Record<string, { sent: Sent[]; punctuality: Punctuality }> = {}
    for (const [timing, aheadMs] of [['last', LAST_MOMENT_MS] as const, ['ahead', AHEAD_MS] as const]) {
      const dueAt = Date.now() + aheadMs
      const sent = world.platforms.flatMap((platform) =>
        Array.from({ length: media }, (_, index) => ({ id: `${kind} ${timing} ${index} ${dueAt}`, platform, dueAt })),
      )
      await schedule(world, authors, sent, file)
      found[timing] = { sent, punctuality: await expectFlawless(`posts with ${kind}`, world, sent) }
    }
    const late = (timing: string) => found[timing]!.punctuality.late
    figures.push(
      figure({
        group: 'platforms',
        name: `${found['ahead']!.sent.length} posts with ${kind} at one instant, prepared ahead, against at the last moment, p95`,
        unit: 'ms late',
        ours: percentile(late('ahead'), 0.95),
        baseline: percentile(late('last'), 0.95),
        details: {
          ...counted(found['ahead']!.punctuality),
          ...perPlatform(world.platforms, found['last']!, 'at the last moment'),
          ...perPlatform(world.platforms, found['ahead']!, 'prepared ahead'),
        },
      }),
    )
  }
  return figures
}

/** Schedules the posts. `file` null means: a picture where the platform requires media, else none. */
async function schedule(world: PlatformWorld, authors: Author[], sent: Sent[], file: number | null): Promise<void> {
  await closedLoop(sent.length, LANES, async (index) => {
    const { id, platform, dueAt } = sent[index]!
    const author = authors[index % authors.length]!
    const needed = file ?? (platform === 'instagram' ? PICTURE : null)
    const media = needed === null ? [] : [author.media[needed]!]
    await world.publish(author, { text: id, platforms: [platform], media, dueAt })
  })
}

async function expectFlawless(what: string, world: PlatformWorld, sent: Sent[]): Promise<Punctuality> {
  const punctuality = await awaitPublication(world, sent)
  assertFlawless(what, punctuality)
  return punctuality
}

/** Waits until every post is public, or the limit has passed, and compares the arrival times. */
async function awaitPublication(world: PlatformWorld, sent: Sent[]): Promise<Punctuality> {
  const lastAt = Math.max(Date.now(), ...sent.map(({ dueAt }) => dueAt))
  await delay(Math.max(0, lastAt - Date.now()))
  for (;;) {
    const arrivals = new Map<Platform, Map<string, number[]>>()
    for (const platform of world.platforms) arrivals.set(platform, await world.arrivals(platform))
    const punctuality = { late: [] as number[], early: 0, twice: 0, lost: 0 }
    for (const due of sent) {
      const one = judgePunctuality([due], (id) => arrivals.get(due.platform)?.get(id) ?? [])
      punctuality.late.push(...one.late)
      for (const name of ['early', 'twice', 'lost'] as const) punctuality[name] += one[name]
    }
    if (punctuality.lost === 0 || Date.now() > lastAt + PUBLISHED_WITHIN_MS) return punctuality
    await delay(POLL_MS)
  }
}

const counted = ({ early, twice, lost }: Punctuality) => ({ early, twice, lost })

function perPlatform(
  platforms: Platform[],
  { sent, punctuality }: { sent: Sent[]; punctuality: Punctuality },
  timing: string,
) {
  return Object.fromEntries(
    platforms.map((platform) => {
      const late = punctuality.late.filter((_, index) => sent[index]!.platform === platform)
      return [`${platformLabel(platform)}, ${timing}, p50 ms`, rounded(median(late))]
    }),
  )
}

async function picture(): Promise<MediaFile> {
  const image = sharp({ create: { width: 1_080, height: 1_080, channels: 3, background: '#2b6cb0' } })
  return { bytes: await image.jpeg().toBuffer(), mimeType: 'image/jpeg' }
}
