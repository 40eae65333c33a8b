import { Client, Connection, WorkflowClient, WorkflowNotFoundError } from '@temporalio/client'
import { expect, it } from 'vitest'
import type { Post } from '../../../src/domain/posts/post.ts'
import { createOrchestrator } from '../../../src/integrations/temporal/orchestrator.ts'
import { publishPostWorkflowId } from '../../../src/workflows/contract/publishing.ts'
import { POST_STATUS } from '../../../src/workflows/contract/search-attributes.ts'
import { buildPost } from '../../support/posts.ts'
import { registerNamespace, testConfig, testContext } from '../../support/servers.ts'

it('deleteWorkflows deletes closed and running workflows and ignores missing ones', async () => {
  const { orchestrator, config, ...context } = await testContext()
  const connection = await Connection.connect({ address: config.TEMPORAL_ADDRESS })
  try {
    const [deleted, other] = [buildPost(), buildPost()]
    await Promise.all([orchestrator.start(deleted), orchestrator.start(other)])
    const { workflow } = new Client({ connection, namespace: config.TEMPORAL_NAMESPACE })
    const describe = ({ _id }: typeof deleted) => workflow.getHandle(publishPostWorkflowId(_id)).describe()
    expect((await describe(deleted)).status.name).toBe('RUNNING')

    const ids = [deleted, buildPost()].map(({ _id }) => publishPostWorkflowId(_id))
    await orchestrator.deleteWorkflows(ids)
    await expect
      .poll(() => describe(deleted).catch((error: unknown) => error), POLL)
      .toBeInstanceOf(WorkflowNotFoundError)
    await orchestrator.deleteWorkflows(ids)
    expect((await describe(other)).status.name).toBe('RUNNING')
  } finally {
    await connection.close()
    await Promise.all([orchestrator.close(), context.close()])
  }
})

it('the workflow of a post is started and signalled when Temporal does not know the search attributes', async () => {
  const config = testConfig()
  await registerNamespace(config)
  const unknown: unknown[] = []
  const place = { address: config.TEMPORAL_ADDRESS, namespace: config.TEMPORAL_NAMESPACE }
  const orchestrator = createOrchestrator({ ...place, onUnknownAttributes: (error) => unknown.push(error) })
  const connection = await Connection.connect({ address: place.address })
  try {
    const workflows = new WorkflowClient({ connection, namespace: place.namespace })
    const statusOf = async ({ _id }: Post) => {
      const { typedSearchAttributes } = await workflows.getHandle(publishPostWorkflowId(_id)).describe()
      return typedSearchAttributes.get(POST_STATUS)
    }
    const [started, signalled, tagged] = [buildPost(), buildPost(), buildPost()]
    expect(await orchestrator.start(started)).toBe(true)
    expect(await orchestrator.signal(signalled, 'changed')).toBe(true)
    expect([await statusOf(started), await statusOf(signalled)]).toEqual([undefined, undefined])
    expect(unknown).toHaveLength(1)

    await orchestrator.ensureSearchAttributes()
    await orchestrator.ensureSearchAttributes()
    const knowing = createOrchestrator(place)
    expect(await knowing.start(tagged)).toBe(true)
    expect(await statusOf(tagged)).toBe(tagged.status)
    await knowing.close()
  } finally {
    await connection.close()
    await orchestrator.close()
  }
})

const POLL = { timeout: 50_000 }
