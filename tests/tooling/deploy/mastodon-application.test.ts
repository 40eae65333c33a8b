import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { buildCallbackUrl } from '../../../src/domain/accounts/platform-connect.ts'
import { SCOPES } from '../../../src/platforms/mastodon/accounts.ts'

const deployPage = readFileSync(new URL('../../../docs/operations/deploy.md', import.meta.url), 'utf8')

/** Returns the form fields of the documented `curl` call. */
function readDocumentedFields(): Record<string, string> {
  const call = /curl [^`]*\/api\/v1\/apps[^`]*/.exec(deployPage)?.[0] ?? ''
  const fields = call.matchAll(/--data-urlencode (?:'(?<quoted>[^']+)'|(?<plain>\S+))/g)
  return Object.fromEntries(
    Array.from(fields, ({ groups }) => (groups!['quoted'] ?? groups!['plain']!).split(/=(.*)/s).slice(0, 2)),
  )
}

it('the documented registration of the Mastodon application requests exactly the scopes of a login', () => {
  expect(readDocumentedFields()['scopes']?.split(' ').toSorted()).toEqual(SCOPES.toSorted())
})

it('the documented registration of the Mastodon application names the callback of this service', () => {
  expect(readDocumentedFields()['redirect_uris']).toBe(buildCallbackUrl('https://api.example.org', 'mastodon'))
})
