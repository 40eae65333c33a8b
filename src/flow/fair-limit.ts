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
interface KeyQueue {
  jobs: Fifo<Job>
  waiting: number
  running: number
  /** True while the key has the turn or is in line for one. */
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
  const slots = typeof maxRunning === 'number' ? () => maxRunning : maxRunning
  const slotsPerKey = () => perKey ?? slots()
  const queues = new Map<string, KeyQueue>()
  const ready = createFifo<KeyQueue>()
  /** The queue that has the turn. */
  let current: KeyQueue | undefined
  let running = 0
  let waiting = 0
  let waitingKeys = 0

  function findQueue(key: string): KeyQueue {
    const queue = queues.get(key) ?? {
      jobs: createFifo(),
      ...{ waiting: 0, running: 0, isReady: false, weight: 1, credit: 0 },
    }
    queues.set(key, queue)
    return queue
  }

  function addWaiting(queue: KeyQueue, change: 1 | -1): void {
    if (queue.waiting === 0) waitingKeys += 1
    queue.waiting += change
    waiting += change
    if (queue.waiting === 0) waitingKeys -= 1
  }

  function deleteIfIdle(key: string, queue: KeyQueue): void {
    if (queue.running === 0 && queue.waiting === 0 && queues.get(key) === queue) queues.delete(key)
  }

  function makeReady(queue: KeyQueue): void {
    if (queue.isReady || queue.waiting === 0 || queue.running >= slotsPerKey()) return
    queue.isReady = true
    ready.push(queue)
  }

  function occupy(queue: KeyQueue): void {
    running += 1
    queue.running += 1
  }

  /** Returns the queue that may start a job; undefined when none waits. */
  function findTurn(): KeyQueue | undefined {
    if (current) return current
    current = ready.shift()
    if (current) current.credit += current.weight
    return current
  }

  function endTurn(queue: KeyQueue): void {
    current = undefined
    queue.isReady = false
    // Only the fraction of a job is carried over, and only while the key waits.
    queue.credit = queue.waiting === 0 ? 0 : queue.credit % 1
    makeReady(queue)
  }

  /** Starts waiting jobs until all slots are taken. */
  function startNext(): void {
    while (running < slots()) {
      const queue = findTurn()
      if (!queue) return
      const job = queue.running < slotsPerKey() ? nextJob(queue) : undefined
      if (job) {
        addWaiting(queue, -1)
        occupy(queue)
        queue.credit -= 1
      }
      if (!job || queue.credit < 1 || queue.waiting === 0) endTurn(queue)
      job?.start()
    }
  }

  /** @throws QueueFull when the key has more than its share of the waiting jobs; above twice the limit for every key */
  function assertRoom(queue: KeyQueue): void {
    const isOverShare = waiting >= maxWaiting && queue.waiting * waitingKeys >= maxWaiting
    if (isOverShare || waiting >= 2 * maxWaiting || queue.waiting >= waitingPerKey) throw new QueueFull()
  }

  function waitForTurn(key: string, queue: KeyQueue, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const cancel = () => {
        job.isCancelled = true
        addWaiting(queue, -1)
        deleteIfIdle(key, queue)
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
      queue.jobs.push(job)
      addWaiting(queue, 1)
      makeReady(queue)
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
    const queue = findQueue(key)
    queue.weight = Math.max(1, weight)
    if (running < slots() && queue.running < slotsPerKey()) occupy(queue)
    else {
      assertRoom(queue)
      await waitForTurn(key, queue, signal)
    }
    try {
      return await work()
    } finally {
      running -= 1
      queue.running -= 1
      makeReady(queue)
      deleteIfIdle(key, queue)
      startNext()
    }
  }
}

function nextJob({ jobs }: KeyQueue): Job | undefined {
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
