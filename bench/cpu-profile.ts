import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'

/** What `node --cpu-prof` writes, as far as it is read here. Times are microseconds of the system's monotonic clock. */
export interface CpuProfile {
  startTime: number
  nodes: ProfileNode[]
  samples: number[]
  timeDeltas: number[]
}

interface ProfileNode {
  id: number
  callFrame: CallFrame
  children?: number[]
}

export interface CallFrame {
  functionName: string
  url: string
  lineNumber: number
}

export interface Window {
  from: number
  to: number
}

/** Microseconds by what they were spent on, waiting left out. */
export interface SelfTimes {
  /** By package, own file or part of Node. */
  module: Map<string, number>
  function: Map<string, number>
  /** By the nearest function of this repository on the stack: what an own function costs with all it calls. */
  own: Map<string, number>
}

const ROOT = fileURLToPath(new URL('../', import.meta.url))
/** V8 names a regular expression by its whole source. */
const LONGEST_NAME = 60
const NOBODY = '(no own function on the stack)'

/** Adds the self time of one profile inside the window to what was found so far. */
export function addSelfTimes(times: SelfTimes, profile: CpuProfile, window: Window): void {
  const frames = framesOf(profile)
  let at = profile.startTime
  profile.samples.forEach((id, index) => {
    // The delta is what passed since the sample before; what was on top then had it until now.
    at += profile.timeDeltas[index] ?? 0
    const frame = frames.get(id)
    const took = profile.timeDeltas[index + 1] ?? 0
    if (!frame || frame.waits || at < window.from || at > window.to) return
    add(times.module, frame.module, took)
    add(times.function, frame.place, took)
    add(times.own, frame.own ?? NOBODY, took)
  })
}

export const noSelfTimes = (): SelfTimes => ({ module: new Map(), function: new Map(), own: new Map() })

/** `@scope/name` of a package, `src/...` of an own file, `node:...`, or V8's own word such as `(garbage collector)`. */
export function moduleOf({ url, functionName }: CallFrame): string {
  if (url === '') return /^\(.*\)$/.test(functionName) ? functionName : '(native)'
  if (url.startsWith('node:')) return url
  const installed = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1]
  if (installed !== undefined) return installed
  if (/workflow-bundle-\w+\.js$/.test(url)) return '(workflow bundle)'
  if (!url.startsWith('file:')) return url
  return relative(ROOT, fileURLToPath(url))
}

interface Frame {
  waits: boolean
  module: string
  place: string
  own: string | null
}

function framesOf({ nodes }: CpuProfile): Map<number, Frame> {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])))
  const frames = new Map<number, Frame>()
  const frameOf = (id: number): Frame => {
    const known = frames.get(id)
    if (known) return known
    const { callFrame } = byId.get(id)!
    const module = moduleOf(callFrame)
    const place = `${(callFrame.functionName || '(anonymous)').slice(0, LONGEST_NAME)} ${module}${line(callFrame)}`
    const parent = parents.get(id)
    const above = parent === undefined ? null : frameOf(parent).own
    const frame: Frame = {
      waits: callFrame.functionName === '(idle)',
      module,
      place,
      own: /^(src|bench)\//.test(module) ? place : above,
    }
    frames.set(id, frame)
    return frame
  }
  for (const { id } of nodes) frameOf(id)
  return frames
}

function line({ url, lineNumber }: CallFrame): string {
  const file = url.includes('/node_modules/') ? ` ${url.split('/').at(-1)}` : ''
  return lineNumber < 0 ? file : `${file}:${lineNumber + 1}`
}

function add(times: Map<string, number>, key: string, took: number): void {
  times.set(key, (times.get(key) ?? 0) + took)
}
