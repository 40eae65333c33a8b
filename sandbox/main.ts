import { say, secondsSince } from '../scripts/provision.mjs'
import { banner } from './banner.ts'
import { takeFolder } from './folder.ts'
import { readOptions, USAGE, type Options } from './options.ts'
import { createSandbox } from './sandbox.ts'

/** The terminal, npm and a wrapper script may each forward the same Ctrl-C. */
const SAME_SIGNAL_WITHIN_MS = 2_000

const startedAt = Date.now()
process.exitCode = await main(process.argv.slice(2))
process.exit()

async function main(args: string[]): Promise<number> {
  if (args.includes('--help')) {
    console.log(USAGE)
    return 0
  }
  const options = parse(args)
  if (options === null) return 2
  const { dir } = options
  let giveBack: () => void
  try {
    giveBack = await takeFolder(options)
  } catch (error) {
    return failed(error)
  }
  say(`Starting postonce in ${dir}`)
  const stopRequested = untilStopped()
  const sandbox = createSandbox(options)
  let result = 0
  try {
    const started = await Promise.race([sandbox.start(), stopRequested])
    if (started !== null) {
      console.log(banner(started, dir, secondsSince(startedAt)))
      await stopRequested
    }
    say('\nStopping ...')
  } catch (error) {
    result = failed(error)
  }
  await sandbox.stop()
  giveBack()
  if (result === 0) say('Stopped. The next start continues with the same data.')
  return result
}

function parse(args: string[]): Options | null {
  try {
    return readOptions(args, process.env['INIT_CWD'] ?? process.cwd(), process.env)
  } catch (error) {
    say(`${error instanceof Error ? error.message : error}\n\n${USAGE}`)
    return null
  }
}

function failed(error: unknown): number {
  say(`\n${error instanceof Error ? error.message : error}`)
  if (process.env['LOG_LEVEL'] === 'debug' && error instanceof Error) say(error.stack ?? '')
  return 1
}

/** Resolves at the first Ctrl-C. A later one ends the process and its children immediately. */
function untilStopped(): Promise<null> {
  return new Promise((resolve) => {
    let firstAt: number | null = null
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => {
        if (firstAt === null) {
          firstAt = Date.now()
          resolve(null)
        } else if (Date.now() - firstAt > SAME_SIGNAL_WITHIN_MS) {
          say('Stopping immediately.')
          process.exit(130)
        }
      })
    }
  })
}
