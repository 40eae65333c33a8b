import type { Context } from '../src/context.ts'
import { cpuMs, type Child } from './processes.ts'
import { median, rounded } from './stats.ts'
import type { World } from './world.ts'

type Part = 'temporal' | 'worker' | 'mongod' | 'starter'
const PARTS: Part[] = ['temporal', 'worker', 'mongod', 'starter']

/** Commands that read or write records. */
const COMMANDS = ['find', 'aggregate', 'update', 'insert', 'findAndModify', 'commitTransaction'] as const
type Command = (typeof COMMANDS)[number]

/** What one post costs. */
export interface Costs {
  /** Processor time, milliseconds; null where the system does not report it. */
  cpu: Record<Part, number | null>
  /** Commands that MongoDB received. */
  commands: Record<Command, number>
}

interface Measured {
  worker: Child
  /** For the commands that MongoDB received. */
  context: Context
  posts: number
}

/** Runs `work` and returns what each of its posts costs. */
export async function measureCosts(
  world: World,
  { worker, context, posts }: Measured,
  work: () => Promise<void>,
): Promise<Costs> {
  const commandsBefore = await countCommands(context)
  const before = readCpu(world, worker)
  await work()
  const after = readCpu(world, worker)
  const commandsAfter = await countCommands(context)
  return {
    cpu: mapTo(PARTS, (part) => {
      const [then, now] = [before[part], after[part]]
      return then === null || now === null ? null : (now - then) / posts
    }),
    commands: mapTo(COMMANDS, (name) => (commandsAfter[name] - commandsBefore[name]) / posts),
  }
}

/** Returns the median of each cost, for the details of a figure. */
export function describeCpu(side: string, costs: Costs[]): Record<string, number | null> {
  const entries = PARTS.map((part) => {
    const known = costs.map(({ cpu }) => cpu[part]).filter((ms) => ms !== null)
    return [`${side} CPU ms a post, ${part}`, known.length === 0 ? null : rounded(median(known))]
  })
  return Object.fromEntries(entries) as Record<string, number | null>
}

export function describeCommands(costs: Costs[]): Record<string, number> {
  return Object.fromEntries(
    COMMANDS.map((name) => [`MongoDB ${name} a post`, rounded(median(costs.map(({ commands }) => commands[name])))]),
  )
}

function readCpu({ pids }: World, worker: Child): Record<Part, number | null> {
  const { user, system } = process.cpuUsage()
  return {
    temporal: cpuMs(pids.temporal),
    worker: cpuMs(worker.pid),
    mongod: cpuMs(pids.mongod),
    // This process creates the posts, like an API process.
    starter: (user + system) / 1_000,
  }
}

/** Returns the commands that MongoDB has received since its start. */
async function countCommands({ database: { connection } }: Context): Promise<Record<Command, number>> {
  const { metrics } = await connection.db!.admin().command({ serverStatus: 1 })
  const { commands } = metrics as { commands: Record<string, { total: unknown } | undefined> }
  return mapTo(COMMANDS, (name) => Number(commands[name]?.total ?? 0))
}

function mapTo<Key extends string, Value>(keys: readonly Key[], toValue: (key: Key) => Value): Record<Key, Value> {
  return Object.fromEntries(keys.map((key) => [key, toValue(key)])) as Record<Key, Value>
}
