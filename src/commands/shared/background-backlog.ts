import type { BackgroundWork } from '../../workflows/contract/background-work.ts'

/** Records that need a background workflow. A crash or an outage may have prevented its start. */
export interface BackgroundBacklog {
  work: BackgroundWork
  /** Operators see it in the Temporal UI. */
  summary: string
  /** The records stored before this time that no workflow has claimed, oldest first. */
  listUnstarted(before: Date, limit: number): Promise<{ id: string; userId: string }[]>
}
