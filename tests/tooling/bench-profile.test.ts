import { expect, test } from 'vitest'
import { addSelfTimes, moduleOf, noSelfTimes, type CpuProfile } from '../../bench/cpu-profile.ts'

const own = new URL('../../src/store/posts/posts.ts', import.meta.url).href
const driver = new URL('../../node_modules/@scope/driver/lib/index.js', import.meta.url).href

function profile(samples: number[], timeDeltas: number[]): CpuProfile {
  const frame = (functionName: string, url = '', lineNumber = -1) => ({ functionName, url, lineNumber })
  return {
    startTime: 1_000,
    nodes: [
      { id: 1, callFrame: frame('(root)'), children: [2, 3] },
      { id: 2, callFrame: frame('(idle)') },
      { id: 3, callFrame: frame('find', own, 9), children: [4] },
      { id: 4, callFrame: frame('send', driver, 1) },
    ],
    samples,
    timeDeltas,
  }
}

test('a CPU profile counts self time for the top function and the nearest own function, without idle time or samples outside the window', () => {
  const times = noSelfTimes()
  // Samples at 1000, 1010, 1030, 1060 and 1100.
  addSelfTimes(times, profile([4, 3, 4, 2, 4], [0, 10, 20, 30, 40]), { from: 1_005, to: 1_100 })
  expect(Object.fromEntries(times.module)).toEqual({ 'src/store/posts/posts.ts': 20, '@scope/driver': 30 })
  expect(Object.fromEntries(times.function)).toEqual({
    'find src/store/posts/posts.ts:10': 20,
    'send @scope/driver index.js:2': 30,
  })
  expect(Object.fromEntries(times.own)).toEqual({ 'find src/store/posts/posts.ts:10': 50 })
})

test('a CPU profile groups frames by package, file of this repository or module of Node', () => {
  const of = (url: string, functionName = 'f') => moduleOf({ url, functionName, lineNumber: 0 })
  expect(of('node:internal/timers')).toBe('node:internal/timers')
  expect(of('file:///x/node_modules/a/node_modules/b/c.js')).toBe('b')
  expect(of('file:///x/workflow-bundle-12ab.js')).toBe('(workflow bundle)')
  expect(of('', '(garbage collector)')).toBe('(garbage collector)')
  expect(of('', 'writeBuffer')).toBe('(native)')
})
