import { compare, type Bound, type Figure, type Sample } from './figure.ts'
import { RELAY } from '../tests/support/driver-commands.ts'
import { cpuMs } from './processes.ts'
import type { Side } from './sides.ts'
import type { World } from './world.ts'

/** The processes that a post costs processor time. This one creates the posts, like an API process. */
const PARTS = ['API', 'worker', 'Temporal', 'MongoDB'] as const
type Part = (typeof PARTS)[number]

const COMMANDS = 'commands'
/** From the claimable post to its recorded outcome. */
const DELIVERY_COMMANDS = 'commands of the deliveries'

/** Runs `work` and returns what each of its posts costs: milliseconds of processor time and commands to MongoDB. */
export async function measureCosts(
  world: World,
  side: Side,
  posts: number,
  work: () => Promise<void>,
): Promise<Sample> {
  const commandsBefore = await side.countCommands()
  const before = readCpu(world, side)
  await work()
  const after = readCpu(world, side)
  const commands = Object.entries(await side.countCommands()).map(([name, count]): [string, number] => [
    `${COMMANDS}, ${name}`,
    (count - (commandsBefore[name] ?? 0)) / posts,
  ])
  return {
    ...Object.fromEntries(PARTS.map((part) => [`CPU, ${part}`, (after[part] - before[part]) / posts])),
    ...Object.fromEntries(commands),
    [COMMANDS]: sumOf(commands),
    [DELIVERY_COMMANDS]: sumOf(commands.filter(([name]) => name.includes('worker: ') && !name.includes(RELAY))),
  }
}

const sumOf = (counts: [string, number][]): number => counts.reduce((sum, [, count]) => sum + count, 0)

/** Returns the figures of the processor time of a post, compared with that of another side. */
export function cpuFigures(what: string, ours: Sample[], other: Sample[], bounds: Partial<Record<Part, Bound>> = {}) {
  return PARTS.map((part) => {
    const [name, value] = [`CPU of ${part} a post, ${what}`, `CPU, ${part}`]
    // Bare workflows leave MongoDB idle: a ratio to nothing would mean nothing.
    const isIdle = part === 'MongoDB' && other.every((sample) => sample[COMMANDS] === 0)
    return compare({ name, unit: 'ms', value, bound: bounds[part] }, ours, isIdle ? undefined : other)
  })
}

/**
 * Returns the figures of the commands of a post: all of them, those of its deliveries, then by process, kind and collection.
 * @param bound of the deliveries
 */
export function commandFigures(what: string, ours: Sample[], bound?: Bound): Figure[] {
  const names = new Set(ours.flatMap(Object.keys).filter((name) => name.startsWith(COMMANDS)))
  return [...names]
    .toSorted()
    .map((value) => {
      const named = { name: `${value} a post, ${what}`, unit: '', value }
      return compare(value === DELIVERY_COMMANDS ? { ...named, bound } : named, ours)
    })
    .filter((found) => found.ours > 0)
}

function readCpu({ pids }: World, { workerPid }: Side): Record<Part, number> {
  const { user, system } = process.cpuUsage()
  return {
    API: (user + system) / 1_000,
    worker: cpuMs(workerPid),
    Temporal: cpuMs(pids.temporal),
    MongoDB: cpuMs(pids.mongod),
  }
}
