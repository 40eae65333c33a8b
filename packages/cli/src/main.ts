import { text } from 'node:stream/consumers'
import { CommanderError } from 'commander'
import { describeError, EXIT, toExitCode } from './exit-codes.ts'
import type { Io } from './io.ts'
import { createProgram } from './program.ts'

const CLEAR_LINE = '\r\x1b[K'

const interrupted = new AbortController()
let isLineOpen = false

process.once('SIGINT', () => interrupted.abort())
// The reader of a pipe may end first: `postonce list | head -1`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit()
  throw error
})

const io: Io = {
  env: process.env,
  signal: interrupted.signal,
  print: (line) => {
    clearProgress()
    process.stdout.write(`${line}\n`)
  },
  note: (line) => {
    clearProgress()
    process.stderr.write(`${line}\n`)
  },
  progress(line) {
    if (!process.stderr.isTTY) return
    process.stderr.write(`${CLEAR_LINE}${line}`)
    isLineOpen = true
  },
  readInput: () => text(process.stdin),
  setExitCode: (code) => (process.exitCode = code),
}

try {
  await createProgram(io).parseAsync()
} catch (error) {
  if (interrupted.signal.aborted) {
    clearProgress()
    process.exitCode = EXIT.interrupted
  } else if (error instanceof CommanderError) {
    // Commander has printed the problem, or the help that was asked for.
    process.exitCode = error.exitCode === 0 ? EXIT.done : EXIT.usage
  } else {
    io.note(`Error: ${describeError(error)}`)
    process.exitCode = toExitCode(error)
  }
}

function clearProgress(): void {
  if (isLineOpen) process.stderr.write(CLEAR_LINE)
  isLineOpen = false
}
