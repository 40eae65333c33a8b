interface FairLimitOptions {
  /** Maximal number of jobs that run concurrently, also as a function when it changes. */
  maxRunning: number | (() => number)
  /** Maximal number of concurrent jobs of one key. Defaults to `maxRunning`. */
  perKey?: number
  /** Maximal number of waiting jobs. At that number, only a key with less than an equal share of them may add another. */
  waiting?: number
  /** Maximal number of waiting jobs of one key. */
  waitingPerKey?: number
}

/** Thrown before a job starts when its queue is full. */
export class QueueFull extends Error {
  constructor() {
    super('the queue is full')
    this.name = 'QueueFull'
  }
}

interface Job {
  start(): void
  isCancelled: boolean
}

/** The jobs of one key: a user, an account or an address. */
interface Lane {
  jobs: Fifo<Job>
  waiting: number
  running: number
  /** True while the lane has the turn or is in the queue of lanes that get one. */
  isReady: boolean
  /** Jobs per turn. */
  weight: number
  /** Jobs that may still start in this turn; between turns, the fraction of a job that the weight left over. */
  credit: number
}

export interface TurnOptions {
  /** Ends the wait, not the work. */
  signal?: AbortSignal | undefined
  /** Jobs that the key starts per turn, 1 by default and at least. It applies from the key's next turn on. */
  weight?: number
}

/**
 * Runs at most `maxRunning` jobs concurrently. Waiting keys take turns (deficit round robin), so that a key with many jobs delays
 * another key by at most `weight` jobs, one by default. The jobs of one key run in order. Every operation takes constant time.
 */
export function createFairLimit(options: FairLimitOptions) {
  const { maxRunning, perKey, waiting: maxWaiting = Infinity, waitingPerKey = Infinity } = options
  const places = typeof maxRunning === 'number' ? () => maxRunning : maxRunning
  const placesPerKey = () => perKey ?? places()
  const lanes = new Map<string, Lane>()
  const ready = createFifo<Lane>()
  /** The lane that has the turn. */
  let current: Lane | undefined
  let running = 0
  let waiting = 0
  let waitingKeys = 0

  function findLane(key: string): Lane {
    const lane = lanes.get(key) ?? {
      jobs: createFifo(),
      ...{ waiting: 0, running: 0, isReady: false, weight: 1, credit: 0 },
    }
    lanes.set(key, lane)
    return lane
  }

  function addWaiting(lane: Lane, change: 1 | -1): void {
    if (lane.waiting === 0) waitingKeys += 1
    lane.waiting += change
    waiting += change
    if (lane.waiting === 0) waitingKeys -= 1
  }

  function deleteIfIdle(key: string, lane: Lane): void {
    if (lane.running === 0 && lane.waiting === 0 && lanes.get(key) === lane) lanes.delete(key)
  }

  function makeReady(lane: Lane): void {
    if (lane.isReady || lane.waiting === 0 || lane.running >= placesPerKey()) return
    lane.isReady = true
    ready.push(lane)
  }

  function occupy(lane: Lane): void {
    running += 1
    lane.running += 1
  }

  /** Returns the lane that may start a job; undefined when none waits. */
  function findTurn(): Lane | undefined {
    if (current) return current
    current = ready.shift()
    if (current) current.credit += current.weight
    return current
  }

  function endTurn(lane: Lane): void {
    current = undefined
    lane.isReady = false
    // Only the fraction of a job is carried over, and only while the lane waits.
    lane.credit = lane.waiting === 0 ? 0 : lane.credit % 1
    makeReady(lane)
  }

  /** Starts waiting jobs until all places are taken. */
  function startNext(): void {
    while (running < places()) {
      const lane = findTurn()
      if (!lane) return
      const job = lane.running < placesPerKey() ? nextJob(lane) : undefined
      if (job) {
        addWaiting(lane, -1)
        occupy(lane)
        lane.credit -= 1
      }
      if (!job || lane.credit < 1 || lane.waiting === 0) endTurn(lane)
      job?.start()
    }
  }

  /** @throws QueueFull when the lane has more than its share of the waiting jobs; above twice the limit for every lane */
  function assertRoom(lane: Lane): void {
    const isOverShare = waiting >= maxWaiting && lane.waiting * waitingKeys >= maxWaiting
    if (isOverShare || waiting >= 2 * maxWaiting || lane.waiting >= waitingPerKey) throw new QueueFull()
  }

  function waitForTurn(key: string, lane: Lane, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const cancel = () => {
        job.isCancelled = true
        addWaiting(lane, -1)
        deleteIfIdle(key, lane)
        reject(signal!.reason as Error)
      }
      const job: Job = {
        isCancelled: false,
        start() {
          signal?.removeEventListener('abort', cancel)
          resolve()
        },
      }
      signal?.addEventListener('abort', cancel, { once: true })
      lane.jobs.push(job)
      addWaiting(lane, 1)
      makeReady(lane)
    })
  }

  /**
   * Runs `work` when it is the key's turn.
   * @throws QueueFull before `work` started, the reason of `signal`, or the error of `work`
   */
  return async function run<T>(
    key: string,
    work: () => Promise<T>,
    { signal, weight = 1 }: TurnOptions = {},
  ): Promise<T> {
    signal?.throwIfAborted()
    const lane = findLane(key)
    lane.weight = Math.max(1, weight)
    if (running < places() && lane.running < placesPerKey()) occupy(lane)
    else {
      assertRoom(lane)
      await waitForTurn(key, lane, signal)
    }
    try {
      return await work()
    } finally {
      running -= 1
      lane.running -= 1
      makeReady(lane)
      deleteIfIdle(key, lane)
      startNext()
    }
  }
}

function nextJob({ jobs }: Lane): Job | undefined {
  let job = jobs.shift()
  while (job?.isCancelled) job = jobs.shift()
  return job
}

interface Fifo<T> {
  push(value: T): void
  shift(): T | undefined
}

/** Creates a linked list: taking the first element of a long array would copy the rest. */
function createFifo<T>(): Fifo<T> {
  interface Node {
    value: T
    next?: Node
  }
  let first: Node | undefined
  let last: Node | undefined

  return {
    push(value) {
      const node: Node = { value }
      if (last) last.next = node
      else first = node
      last = node
    },
    shift() {
      const node = first
      first = node?.next
      if (!first) last = undefined
      return node?.value
    },
  }
}
