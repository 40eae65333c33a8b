import { Client, Connection, WorkflowNotFoundError } from '@temporalio/client'
import { expect, it } from 'vitest'
import { publishPostWorkflowId } from '../../src/workflows/messages.ts'
import { buildPost } from '../support/posts.ts'
import { testContext } from '../support/servers.ts'

it('forgets workflows, also one that runs, and those that are not there', async () => {
  const { orchestrator, config, ...context } = await testContext()
  const connection = await Connection.connect({ address: config.TEMPORAL_ADDRESS })
  try {
    const [gone, kept] = [buildPost(), buildPost()]
    await Promise.all([orchestrator.start(gone), orchestrator.start(kept)])
    const { workflow } = new Client({ connection, namespace: config.TEMPORAL_NAMESPACE })
    const describe = ({ _id }: typeof gone) => workflow.getHandle(publishPostWorkflowId(_id)).describe()
    expect((await describe(gone)).status.name).toBe('RUNNING')

    const ids = [gone, buildPost()].map(({ _id }) => publishPostWorkflowId(_id))
    await orchestrator.forget(ids)
    await expect.poll(() => describe(gone).catch((error: unknown) => error), POLL).toBeInstanceOf(WorkflowNotFoundError)
    await orchestrator.forget(ids)
    expect((await describe(kept)).status.name).toBe('RUNNING')
  } finally {
    await connection.close()
    await Promise.all([orchestrator.close(), context.close()])
  }
})

const POLL = { timeout: 50_000 }
