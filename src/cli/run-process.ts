import { ConfigError } from '../config/schema.ts'
import type { Logger } from '../logger.ts'

/** Runs a process's start; a failure is told in one line on standard error, without a stack, and ends it with status 1. */
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

/** Tells what a process waits for, in its log. */
export const logMissing = (logger: Logger) => (missing: string[]) =>
  logger.warn({ missing }, 'Waiting for what is not there yet; without indexes run "npm run setup"')
