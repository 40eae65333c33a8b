import type { Client, components } from '@postonce/sdk'
import type * as z from 'zod/v4'
import type { Creations } from '../creations.ts'

export type Scope = components['schemas']['ApiKeyScope']

/** The service as one session of an agent uses it. */
export interface Session {
  client: Client
  creations: Creations
}

export interface Tool<Input extends z.ZodObject = z.ZodObject> {
  name: string
  title: string
  description: string
  /** The tool is offered only to keys with this scope. */
  scope: Scope
  /** `publish` changes what is public, which no call can undo. */
  effect: 'read' | 'add' | 'change' | 'publish'
  /** True when a repeated call has no second effect. */
  isIdempotent: boolean
  input: Input
  run(args: z.output<Input>, session: Session, signal: AbortSignal): Promise<object>
}

/** Returns the tool with the type of a list of tools. Its arguments are typed by its input. */
export function defineTool<Input extends z.ZodObject>(tool: Tool<Input>): Tool {
  return tool
}
