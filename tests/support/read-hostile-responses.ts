/**
 * Runs every foreign read against servers with hostile responses, in a process of its own. Arguments: the URLs of the servers. Prints a line of
 * JSON per read with the longest time for which the event loop could serve nothing else.
 */
import { FOREIGN_READS } from './foreign-reads.ts'

/** Returns the CPU time of this process in milliseconds: unlike elapsed time, it does not depend on how busy the machine is. */
const readCpuMs = () => process.cpuUsage().user / 1_000

function watchTurns() {
  let longestMs = 0
  let last = readCpuMs()
  let timer: NodeJS.Timeout
  const tick = () => {
    const now = readCpuMs()
    longestMs = Math.max(longestMs, now - last)
    last = now
    timer = setTimeout(tick, 1)
  }
  tick()
  return () => {
    tick()
    clearTimeout(timer)
    return Math.round(longestMs)
  }
}

async function readOnce(name: string, read: (url: string) => Promise<unknown>, url: string): Promise<void> {
  const stop = watchTurns()
  const result = await read(url).then(
    () => 'read',
    (error: Error) => error.message,
  )
  process.stdout.write(`${JSON.stringify({ name, url, longestMs: stop(), result: result.slice(0, 200) })}\n`)
}

for (const reads of Object.values(FOREIGN_READS)) {
  for (const [name, read] of Object.entries(reads)) {
    // Libraries are loaded with the first read.
    await read('http://127.0.0.1:1').catch(() => undefined)
    for (const url of process.argv.slice(2)) await readOnce(name, read, url)
  }
}
process.exit()
