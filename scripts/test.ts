/**
 * `npm test [-- <vitest arguments>]`: makes sure of the servers that the chosen tests need, then runs vitest once.
 */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { findChromium } from '../sandbox/servers/chromium.ts'
import { findFuzzer } from '../sandbox/servers/fuzzer.ts'
import { findMongod } from '../sandbox/servers/mongod.ts'
import { findObjectStorage } from '../sandbox/servers/object-storage.ts'
import { findPaymentsMock } from '../sandbox/servers/payments-mock.ts'
import { findTemporal } from '../sandbox/servers/temporal.ts'
import { findTestServer } from '../sandbox/servers/test-server.ts'
import { leashed, say } from './provision.mjs'

const WITHOUT_SERVERS = /^(\.\/)?tests\/(unit|tooling|simulators|workflows)\b/
const IN_A_BROWSER = /^(\.\/)?tests\/browser\b/
const OF_PAYMENTS = /^(\.\/)?tests\/integration(\/integrations|$|\/$)/
const OF_THE_FUZZER = /^(\.\/)?tests\/integration(\/fuzz|$|\/$)/
const TIME_SKIPPING = /^(\.\/)?tests\/workflows\b/

const args = process.argv.slice(2)

try {
  await findServers(args.filter((arg) => !arg.startsWith('-')))
} catch (error) {
  say(`\n${error instanceof Error ? error.message : error}`)
  process.exit(1)
}
runVitest()

/** Before vitest, which would otherwise print over the progress. */
async function findServers(chosen: string[]): Promise<void> {
  const all = chosen.length === 0
  if (all || chosen.some((path) => !WITHOUT_SERVERS.test(path))) {
    await findMongod()
    await findTemporal()
    await findObjectStorage()
  }
  if (all || chosen.some((path) => IN_A_BROWSER.test(path))) await unlessUnavailable(findChromium)
  if (all || chosen.some((path) => OF_PAYMENTS.test(path))) await unlessUnavailable(findPaymentsMock)
  if (all || chosen.some((path) => OF_THE_FUZZER.test(path))) await unlessUnavailable(findFuzzer)
  if (all || chosen.some((path) => TIME_SKIPPING.test(path))) await findTestServer()
}

/** Not every machine can have it, and most tests do without: those that need it fail by themselves. */
async function unlessUnavailable(find: () => Promise<string>): Promise<void> {
  await find().catch((error: unknown) => say(`\n${error instanceof Error ? error.message : error}\n`))
}

function runVitest(): void {
  const vitest = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url))
  const child = spawn(...leashed(process.execPath, [vitest, 'run', ...args]), { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal))
  child.once('exit', (code) => process.exit(code ?? 1))
}
