import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { getHeapStatistics } from 'node:v8'
import { afterEach, expect, it } from 'vitest'
import { freePort } from '../../../sandbox/servers/process.ts'
import { serveMetrics } from '../../../src/telemetry/metrics-server.ts'
import { createMetrics } from '../../../src/telemetry/metrics.ts'

let server: { close(): Promise<void> } | undefined
afterEach(() => server?.close())

it('the metrics show the lateness and outcome of visible calls', async () => {
  const metrics = createMetrics()
  const post = { scheduledAt: new Date(1_000), dueAt: new Date(5_000) }
  metrics.publishStarted('bluesky', post, new Date(1_007))
  metrics.publishEnded('bluesky', 'accepted', { post, at: new Date(1_042) })
  metrics.publishEnded('bluesky', 'unknown', { post, at: new Date(9_000) })
  const port = await freePort()
  server = await serveMetrics(metrics, '127.0.0.1', port)
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  expect(text).toContain('postonce_publish_lateness_seconds_sum{platform="bluesky",timing="scheduled"} 0.007')
  expect(text).toContain('postonce_acceptance_lateness_seconds_sum{platform="bluesky",timing="scheduled"} 0.042')
  expect(text).toContain('postonce_acceptance_lateness_seconds_count{platform="bluesky",timing="scheduled"} 1')
  expect(text).toContain('postonce_publish_calls_total{platform="bluesky",outcome="accepted"} 1')
  expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(404)
})

it('counters start at 0, so that the first event is an increase', async () => {
  const text = await createMetrics().text()
  expect(text).toContain('postonce_publish_calls_total{platform="tumblr",outcome="unknown"} 0')
  expect(text).toContain('postonce_deliveries_total{platform="threads",outcome="failed"} 0')
  expect(text).toContain('postonce_sweep_findings_total{finding="stalled"} 0')
  expect(text).toContain('postonce_payment_calls_total{outcome="failed"} 0')
  expect(text).toContain('postonce_sweep_work_total{work="sendMail"} 0')
})

it('the metrics show the event loop delay since the last scrape', async () => {
  const metrics = createMetrics()
  const delays = async () => {
    const text = await metrics.text()
    return ['max', 'p99'].map((name) =>
      Number(new RegExp(`^nodejs_eventloop_lag_${name}_seconds (.+)$`, 'm').exec(text)?.[1]),
    )
  }
  const blockFor = async (ms: number) => {
    // The histogram starts in the next turn of the loop and records a delay in the turn after it.
    await delay(50)
    const end = performance.now() + ms
    while (performance.now() < end);
    await delay(50)
  }
  await blockFor(2_000)
  for (const seconds of await delays()) expect(seconds).toBeGreaterThan(1.5)
  // A busy machine may delay some turns of the loop, but the long delay does not count again.
  await expect.poll(async () => Math.max(...(await delays())), { timeout: 50_000 }).toBeLessThan(1.5)
})

it('the metrics show the used heap and its limit', async () => {
  const text = await createMetrics().text()
  const value = (name: string) => Number(new RegExp(`^${name} (.+)$`, 'm').exec(text)?.[1])
  expect(value('postonce_heap_limit_bytes')).toBe(getHeapStatistics().heap_size_limit)
  expect(value('nodejs_heap_size_used_bytes')).toBeLessThan(value('postonce_heap_limit_bytes'))
})

it('port 0 turns the metrics server off', async () => {
  server = await serveMetrics(createMetrics(), '127.0.0.1', 0)
  await expect(server.close()).resolves.toBeUndefined()
})

it('the metrics are exactly those that the monitoring guide explains, and the alert rules query no others', async () => {
  const read = (path: string) => readFile(new URL(`../../../${path}`, import.meta.url), 'utf8')
  const [guide, rules] = await Promise.all([read('docs/operations/monitoring.md'), read('deploy/alert-rules.yml')])
  const text = await createMetrics().text()
  const findNames = (source: string, pattern: RegExp) => [
    ...new Set([...source.matchAll(pattern)].map(([, name]) => name)),
  ]
  const served = findNames(text, /^# TYPE (postonce_\w+)/gm)
  const explained = findNames(guide, /`(postonce_\w+)`/g)
  expect(new Set(explained)).toEqual(new Set(served))
  const queried = findNames(guide + rules, /((?:postonce|nodejs)_\w+?)(?:_bucket|_count|_sum)?\b/g)
  expect(queried.filter((name) => !text.includes(`# TYPE ${name} `))).toEqual([])
})
