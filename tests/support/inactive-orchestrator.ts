import type { PublishOrchestrator } from '../../src/integrations/temporal/orchestrator.ts'

/** An orchestrator without Temporal: it acknowledges every call and runs no workflow. */
export const INACTIVE_ORCHESTRATOR: PublishOrchestrator = {
  start: async () => true,
  signal: async () => true,
  startWork: async () => true,
  wakeImport: async () => true,
  listOverdue: async () => [],
  terminateStuck: async () => false,
  notifySubscription: async () => true,
  deleteWorkflows: async () => {},
  hasSchedules: async () => true,
  restartPosts: async () => {},
  ensureSearchAttributes: async () => {},
  ensureSchedules: async () => {},
  refreshMetrics: async () => 'failed' as const,
  ping: async () => {},
  findProblems: async () => [],
  readQueues: async () => [],
  findSweeperProblem: async () => null,
  close: async () => {},
}
