import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { FOREIGN_READS } from '../support/foreign-reads.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const SOURCES = globSync('src/**/*.ts', { cwd: ROOT })
  .toSorted()
  .map((file) => ({ file, code: readFileSync(ROOT + file, 'utf8') }))

const filesWith = (pattern: RegExp) => SOURCES.filter(({ code }) => pattern.test(code)).map(({ file }) => file)

/** What a file contains that opens connections itself, or loads a library that does. */
const OPENS_CONNECTIONS =
  /\b(?:cappedFetch|fetch)\(|import \{[^}]*\b(?:Agent|connect|request)\b[^}]*\} from '(?:undici|node:(?:https?|net|tls))'|from '@aws-sdk\/client-s3'|import\('(?:nodemailer|firebase-admin)|Connection\.connect\(/

/** Files that reach only servers of this deployment, or are a part of a file in the list. */
const OTHERS = [
  ...['src/integrations/mail/mail.ts', 'src/integrations/storage/storage.ts', 'src/worker/sdk-runtime.ts'],
  ...['src/worker/create-workers.ts', 'src/cli/worker-health.ts'],
  ...['src/integrations/push/push.ts', 'src/integrations/shared/capped-fetch.ts'],
]

test('every file that reads what other servers send is in the list of foreign reads', () => {
  expect(filesWith(OPENS_CONNECTIONS)).toEqual([...Object.keys(FOREIGN_READS), ...OTHERS].toSorted())
})

test('every integration that reads over a client that it receives is called in the list of foreign reads', () => {
  const list = readFileSync(`${ROOT}tests/support/foreign-reads.ts`, 'utf8')
  const reading = filesWith(/\bhttp\.(?:open|send)\(/).filter((file) => file.startsWith('src/integrations/'))
  expect(reading).toEqual(['src/integrations/pages/public-files.ts', 'src/integrations/webhooks/webhook-sender.ts'])
  expect(reading.filter((file) => !list.includes(`${file.slice(0, file.lastIndexOf('/'))}/`))).toEqual([])
  const openers = [...list.matchAll(/pages\.(\w+)\(url/g)].map(([, name]) => name!)
  const pages = readFileSync(`${ROOT}src/integrations/pages/pages.ts`, 'utf8')
  expect(openers.toSorted()).toEqual(
    [...pages.matchAll(/^    (\w+): (?:<\w+>)?\(\s*address/gm)].map(([, name]) => name!).toSorted(),
  )
})

test('every file that parses the JSON of others uses the bounded parser', () => {
  const parsing = filesWith(/\bJSON\.parse\(|\.json\(\)/)
  expect(parsing).toEqual([
    // Bounded by the size of a message.
    'src/api/realtime/plain-websocket.ts',
    // What this service has stored, sent or sealed itself.
    ...['src/commands/accounts/offers.ts', 'src/commands/notifications/mail-secrets.ts'],
    'src/commands/shared/attempt-secrets.ts',
    'src/domain/shared/json-text.ts',
    // Signed by the payment processor.
    'src/integrations/payments/payments.ts',
    // The response is bounded while it is read.
    'src/integrations/push/service-account.ts',
    ...['src/platforms/bluesky/saved.ts', 'src/platforms/facebook/accounts.ts'],
    ...['src/platforms/facebook/checkpoints.ts', 'src/platforms/facebook/direct-posts.ts'],
    ...['src/platforms/facebook/files.ts', 'src/platforms/mastodon/media.ts', 'src/platforms/shared/calls.ts'],
    'src/platforms/shared/graph/containers.ts',
    'src/platforms/shared/responses.ts',
    ...['src/platforms/tumblr/accounts.ts', 'src/platforms/tumblr/drafts.ts'],
    'src/store/accounts/account-writes.ts',
  ])
})

/** What a file contains that limits how much users take of something that they share. */
const SHARED_LIMIT = /\bcreate(?:FairLimit|SlotCounter|CallWindows|RateLimit)\(|rateLimits\.bucket\(|mayTakeSlot\(/

test('the list of shared limits names every file that limits what users share', () => {
  const page = readFileSync(`${ROOT}docs/design/architecture.md`, 'utf8')
  const section = page.split('\n## ').find((part) => part.startsWith('Shared limits'))!
  const named = [...section.matchAll(/`(src\/[^`]+)`/g)].map(([, path]) => path!)
  const limiting = filesWith(SHARED_LIMIT).filter((file) => !/^src\/(flow\/|store\/stores)/.test(file))
  expect(limiting.length).toBeGreaterThan(10)
  expect(limiting.filter((file) => !named.some((path) => file.startsWith(path)))).toEqual([])
})
