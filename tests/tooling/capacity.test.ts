import { describe, expect, it } from 'vitest'
import { describeCapacity } from '../../bench/capacity.ts'
import { figure } from '../../bench/figure.ts'
import type { Results } from '../../bench/report.ts'

const costs = (cpuMs: number) => ({
  ...Object.fromEntries(
    ['temporal', 'worker', 'mongod', 'starter'].map((part) => [`ours CPU ms a post, ${part}`, cpuMs]),
  ),
  ...Object.fromEntries(
    ['update', 'insert', 'findAndModify', 'commitTransaction'].map((name) => [`MongoDB ${name} a post`, 1]),
  ),
})
const lengths = { 'history bytes, median': 4_096, 'MongoDB bytes a post': 2_048 }

function buildResults(cpuMs: number): Results {
  const one = { unit: 'x', ours: 10, baseline: 10 }
  return {
    startedAt: '2026-01-01T00:00:00.000Z',
    tookSeconds: 1,
    machine: { processor: 'x', cores: 2, memoryGiB: 8 },
    versions: {},
    charts: [],
    figures: [
      figure({ ...one, group: 'throughput', name: 'immediate posts, three', details: costs(cpuMs) }),
      figure({
        ...one,
        group: 'lateness',
        name: '2000 posts at one instant',
        details: costs(cpuMs),
      }),
      figure({ ...one, group: 'history', name: 'immediate post, three', details: lengths }),
      figure({ ...one, group: 'history', name: 'scheduled post, three', details: lengths }),
    ],
  }
}

const rowOf = (text: string, label: string) =>
  text
    .split('\n')
    .find((line) => line.startsWith(`| ${label}`))!
    .split(' | ')
    .slice(1)

describe('the capacity tables', () => {
  const text = describeCapacity(buildResults(10))

  it('cores are the busy hour’s posts by the processor time of one, with a reserve', () => {
    // A million posts a day are 27.8 a second in the busiest hour. Of 40 ms each they need 1.11 cores, 1.85 at 60 %.
    expect(rowOf(text, 'Posts per second in the busiest hour').at(-1)).toBe('27.8 |')
    expect(rowOf(text, 'Cores, Temporal')).toEqual(['below 1 |'])
    expect(rowOf(describeCapacity(buildResults(40)), 'Cores, Temporal').at(-1)).toBe('2 |')
    expect(rowOf(describeCapacity(buildResults(400)), 'Cores, Temporal').at(-1)).toBe('19 |')
  })

  it('the costs are compared with the measured rate', () => {
    expect(text).toContain('should publish 50 immediate posts per second; they published 10 (0.20)')
  })

  it('results without a figure are an error', () => {
    const results = buildResults(10)
    expect(() => describeCapacity({ ...results, figures: results.figures.slice(1) })).toThrow('throughput')
  })
})
