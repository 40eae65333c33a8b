import { createServer } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { createMetrics, serveMetrics } from '../../src/integrations/metrics.ts'

let server: { close(): Promise<void> } | undefined
afterEach(() => server?.close())

/** A port that was free a moment ago. */
function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number }
      probe.close(() => resolve(port))
    })
  })
}

it('serves how late visible calls started and what they came to', async () => {
  const metrics = createMetrics()
  metrics.publishStarted('bluesky', 7)
  metrics.publishEnded('bluesky', 'accepted')
  const port = await freePort()
  server = await serveMetrics(metrics, '127.0.0.1', port)
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  expect(text).toContain('postonce_publish_lateness_seconds_sum{platform="bluesky"} 0.007')
  expect(text).toContain('postonce_publish_calls_total{platform="bluesky",outcome="accepted"} 1')
  expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(404)
})

it('is off with port 0', async () => {
  server = await serveMetrics(createMetrics(), '127.0.0.1', 0)
  await expect(server.close()).resolves.toBeUndefined()
})
