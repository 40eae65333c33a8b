import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

/** Runs in a separate process, because a failure here ends the process. */
const SCRIPT = `
import { createOrchestrator } from './src/integrations/temporal/orchestrator.ts'
import { newPost } from './src/domain/posts/post-moves.ts'

const orchestrator = createOrchestrator({ address: '127.0.0.1:1', namespace: 'default' })
const post = newPost({
  _id: '0'.repeat(24), userId: '1'.repeat(24), content: { text: 'Hello', mediaItems: [] }, platformSpecificContent: {},
  selectedPlatforms: ['bluesky'], scheduledAt: null, timezone: 'UTC', correlationId: null, requestHash: null,
  metadata: { source: 'api', client: 'api' }, draft: false,
}, new Date())
console.log('acknowledged', await orchestrator.start(post))
await orchestrator.close()
setTimeout(() => console.log('still alive'), 2_000)
`

test('stopping right after a create that Temporal did not acknowledge ends cleanly', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', SCRIPT])
  expect(stdout).toBe('acknowledged false\nstill alive\n')
})
