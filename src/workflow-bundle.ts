import { fileURLToPath } from 'node:url'
import { bundleWorkflowCode, DefaultLogger, type WorkflowBundleWithSourceMap } from '@temporalio/worker'

/**
 * Rules that workflows use. They keep no state, so one copy serves all workflows of a worker; otherwise every new workflow
 * would evaluate its own, which shows in the processor time of a post.
 */
const SHARED_MODULES = ['publish-plan', 'platforms', 'times']

/** The workflows with all they import, as one script. Takes about a second. */
export function bundleWorkflows(): Promise<WorkflowBundleWithSourceMap> {
  return bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('./workflows/index.ts', import.meta.url)),
    preloadModules: SHARED_MODULES.map((name) => fileURLToPath(new URL(`./domain/${name}.ts`, import.meta.url))),
    logger: new DefaultLogger('WARN'),
  })
}
