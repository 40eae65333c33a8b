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
