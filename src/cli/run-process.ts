import { ConfigError } from '../config/schema.ts'
import type { Logger } from '../logger.ts'

/**
 * Runs the start of a process. A failure is written as one line to standard error, without a stack, and ends the process with
 * status 1.
 */
export async function runProcess(start: () => Promise<void>): Promise<void> {
  try {
    await start()
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    process.stderr.write(`${message}\n`)
    if (!(error instanceof ConfigError) && error instanceof Error && process.env['LOG_LEVEL'] === 'debug') {
      process.stderr.write(`${error.stack}\n`)
    }
    process.exit(1)
  }
}

/** Returns a function that logs the missing dependencies of a process. */
export const logMissing = (logger: Logger) => (missing: string[]) =>
  logger.warn(
    { missing, hint: 'if the schema version or indexes are missing, run "npm run setup"' },
    'waiting for dependencies',
  )
