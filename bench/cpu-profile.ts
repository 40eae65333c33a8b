import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The fields of a `node --cpu-prof` file that are used here. Times are microseconds of the system's monotonic clock. */
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

/** Processor time in microseconds, without idle time. */
export interface SelfTimes {
  /** Time by package, file of this repository or module of Node. */
  module: Map<string, number>
  function: Map<string, number>
  /** Time by the nearest function of this repository on the stack, including the library calls that it makes. */
  own: Map<string, number>
}

const ROOT = fileURLToPath(new URL('../', import.meta.url))
/** V8 names a regular expression by its whole source, which may be long. */
const LONGEST_NAME = 60
const NO_OWN_FUNCTION = '(no own function on the stack)'

/** Adds the self times of a profile's samples within the window to `times`. */
export function addSelfTimes(times: SelfTimes, profile: CpuProfile, window: Window): void {
  const frames = framesOf(profile)
  let at = profile.startTime
  profile.samples.forEach((id, index) => {
    // A delta is the time since the previous sample. A frame counts until the next sample, so its time is the next delta.
    at += profile.timeDeltas[index] ?? 0
    const frame = frames.get(id)
    const took = profile.timeDeltas[index + 1] ?? 0
    if (!frame || frame.waits || at < window.from || at > window.to) return
    add(times.module, frame.module, took)
    add(times.function, frame.place, took)
    add(times.own, frame.own ?? NO_OWN_FUNCTION, took)
  })
}

export const noSelfTimes = (): SelfTimes => ({ module: new Map(), function: new Map(), own: new Map() })

/** Returns a package as `@scope/name`, our file as `src/...`, `node:...`, or a name by V8 such as `(garbage collector)`. */
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
