import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { findFuzzer } from '../../../sandbox/servers/fuzzer.ts'
import { startPayments, type SandboxPayments } from '../../../sandbox/services/payments.ts'
import type { Config } from '../../../src/config/schema.ts'
import type { Role } from '../../../src/domain/users/user.ts'
import { createTestKey } from '../../support/api-keys.ts'
import { apiWorld, signIn, type ApiWorld } from '../../support/api.ts'
import { EXAMPLES, IS_LONG, TIMEOUT_MS } from './examples.ts'
import { fuzz, type FuzzResult } from './fuzzer.ts'

/** These operations end the session that sends them, so each gets its own user. */
const ENDING = ['eraseAccount', 'logOut', 'logOutEverywhere']
/** The responses of these operations last as long as the client listens. */
const ENDLESS = ['streamEvents']

let world: ApiWorld
let processor: SandboxPayments
let folder: string
let program: string
let baseUrl: string

beforeAll(async () => {
  program = await findFuzzer()
  processor = await startPayments()
  world = await apiWorld({ ...(processor.env('http://127.0.0.1:9') as Partial<Config>), ...UNLIMITED })
  processor.setEndpoints([])
  baseUrl = await world.app.listen({ port: 0, host: '127.0.0.1' })
  folder = await mkdtemp(join(tmpdir(), 'postonce-fuzz-'))
}, TIMEOUT_MS)
afterAll(async () => {
  await world?.close()
  await processor?.stop()
  if (folder) await rm(folder, { recursive: true, force: true })
})

/** Without higher limits, most responses would be 429. */
const UNLIMITED: Partial<Config> = {
  OTP_PER_HOUR: 1_000_000,
  RESET_MAILS_PER_HOUR: 1_000_000,
  CAPTIONS_PER_HOUR: 1_000_000,
  ANALYTICS_REFRESH_SECONDS: 1,
}

it(
  'every response to a generated request of a user is documented and no server error',
  async () => {
    assertClean(await fuzzAs('user', { only: null, excluded: [...ENDING, ...ENDLESS] }))
  },
  TIMEOUT_MS,
)

it(
  'every response to a generated request of an admin is documented and no server error',
  async () => {
    assertClean(
      await fuzzAs('admin', {
        only: IS_LONG ? null : operationsOf('admin', 'status'),
        excluded: [...ENDING, ...ENDLESS],
      }),
    )
  },
  TIMEOUT_MS,
)

it(
  'every response to a generated request with an API key is documented and no server error',
  async () => {
    const { secret } = await createTestKey(world.context, await signIn(world.context))
    assertClean(
      await fuzzWith(secret, {
        only: IS_LONG ? null : operationsOf('keys', 'platforms', 'notifications'),
        excluded: ENDLESS,
      }),
    )
  },
  TIMEOUT_MS,
)

it.each(ENDING)(
  'every response to a generated %s request is documented and no server error',
  async (operationId) => {
    assertClean(await fuzzAs('user', { only: [operationId], excluded: [] }))
  },
  TIMEOUT_MS,
)

/** Fuzzes with a new account that only this run uses. */
async function fuzzAs(role: Role, operations: { only: string[] | null; excluded: string[] }): Promise<FuzzResult> {
  const { accessToken } = await signIn(world.context, { role })
  return fuzzWith(accessToken, operations)
}

function fuzzWith(credential: string, operations: { only: string[] | null; excluded: string[] }): Promise<FuzzResult> {
  return fuzz({ program, folder, baseUrl, credential, examples: EXAMPLES, isStateful: IS_LONG, ...operations })
}

function operationsOf(...tags: string[]): string[] {
  const { paths = {} } = world.app.swagger() as { paths?: Record<string, object> }
  const operations = Object.values(paths).flatMap((path) => Object.values(path))
  return operations.filter((operation) => tags.includes(operation.tags[0])).map(({ operationId }) => operationId)
}

function assertClean({ isClean, output }: FuzzResult): void {
  expect.soft(isClean, output).toBe(true)
}
