import type { mongo } from 'mongoose'

/** A command that the driver sent to the database. */
export interface DriverCommand {
  name: string
  /** The collection; undefined for commands without one. */
  collection: string | undefined
  command: Record<string, unknown>
}

/** Collects the commands of a connection that is opened with `onCommand`. */
export function collectCommands() {
  const commands: DriverCommand[] = []
  return {
    commands,
    onCommand: (event: mongo.CommandStartedEvent): void => void commands.push(toDriverCommand(event)),
  }
}

export function toDriverCommand({ commandName: name, command }: mongo.CommandStartedEvent): DriverCommand {
  const target: unknown = command[name]
  return { name, collection: typeof target === 'string' ? target : undefined, command }
}

/** Commands that are no work of their own. */
const UNCOUNTED = new Set(['hello', 'ping', 'endSessions', 'killCursors', 'getMore'])

/** Begins the names of the commands that move events to the feeds of their users and wake their webhooks. */
export const RELAY = 'relay: '
/** Begins the name of the query for changes of all armed posts, once per second. */
export const ARMED = 'armed: '

/** Counts commands by kind and collection, as `find posts` or `relay: find posts`. */
export function createCommandCounter() {
  const counts: Record<string, number> = {}
  /** The open transactions that the relay has begun. */
  const relaying = new Set<string>()

  function isRelay({ name, collection, command }: DriverCommand): boolean {
    const { lsid, txnNumber, startTransaction } = command as { lsid?: { id: { toString(): string } } } & typeof command
    const transaction = `${lsid?.id.toString()}/${String(txnNumber)}`
    if (startTransaction && collection === 'events') relaying.add(transaction)
    if (name === 'commitTransaction' || name === 'abortTransaction') return relaying.delete(transaction)
    // Outside of transactions, notifications are inserted by the relay, and rarely as warnings.
    const isNotification = name === 'insert' && collection === 'notifications' && command['autocommit'] === undefined
    return relaying.has(transaction) || collection === 'webhooks' || isNotification || isOfPendingEvents(command)
  }

  return {
    counts,
    onCommand(event: mongo.CommandStartedEvent): void {
      const command = toDriverCommand(event)
      const { name, collection } = command
      const { pipeline = [], projection = {} } = command.command as { pipeline?: object[]; projection?: object }
      if (UNCOUNTED.has(name) || '$changeStream' in (pipeline[0] ?? {})) return
      const isArmed = collection === 'posts' && 'contentVersion' in projection
      const work = isRelay(command) ? RELAY : isArmed ? ARMED : ''
      const key = `${work}${collection === undefined ? name : `${name} ${collection}`}`
      counts[key] = (counts[key] ?? 0) + 1
    },
  }
}

/** Returns whether a command reads or removes the events that changes have stored with their posts. */
function isOfPendingEvents({ filter = {}, updates = [] }: DriverCommand['command']): boolean {
  const pulls = (updates as { u?: { $pull?: object } }[]).some(({ u }) => u?.$pull && 'pendingEvents' in u.$pull)
  return pulls || Object.keys(filter as object).some((name) => name.startsWith('pendingEvents.'))
}
