import type { Checkpoints } from '../contract.ts'

/** Returns the value of a checkpoint that holds JSON; null when there is none. */
export function readSaved<T>(checkpoints: Pick<Checkpoints, 'get'>, name: string): T | null {
  const stored = checkpoints.get(name)
  return stored ? (JSON.parse(stored) as T) : null
}
