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
    onCommand({ commandName: name, command }: mongo.CommandStartedEvent): void {
      const target: unknown = command[name]
      commands.push({ name, collection: typeof target === 'string' ? target : undefined, command })
    },
  }
}
