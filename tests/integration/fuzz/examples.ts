import { HOUR, MINUTE } from '../../../src/domain/shared/times.ts'

/** Generated requests for each route and phase. `npm run fuzz` sets a larger number. */
export const EXAMPLES = Number(process.env['FUZZ_EXAMPLES'] ?? 3)
export const IS_LONG = EXAMPLES > 10
export const TIMEOUT_MS = IS_LONG ? 6 * HOUR : 12 * MINUTE

/** A fixed seed sends the same requests in every run, so that a failure is repeatable. */
export const SEED = 20_260_101
