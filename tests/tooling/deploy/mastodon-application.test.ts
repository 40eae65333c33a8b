import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { buildCallbackUrl } from '../../../src/domain/accounts/platform-connect.ts'
import { SCOPES } from '../../../src/platforms/mastodon/accounts.ts'

const readme = readFileSync(new URL('../../../docs/operations/deploy.md', import.meta.url), 'utf8')

/** The form fields of the documented `curl` call. */
function documentedFields(): Record<string, string> {
  const call = /curl [^`]*\/api\/v1\/apps[^`]*/.exec(readme)?.[0] ?? ''
  const fields = call.matchAll(/--data-urlencode (?:'(?<quoted>[^']+)'|(?<plain>\S+))/g)
  return Object.fromEntries(
    Array.from(fields, ({ groups }) => (groups!['quoted'] ?? groups!['plain']!).split(/=(.*)/s).slice(0, 2)),
  )
}

it('the documented registration of the Mastodon application asks for exactly the scopes that a login asks for', () => {
  expect(documentedFields()['scopes']?.split(' ').toSorted()).toEqual(SCOPES.toSorted())
})

it('the documented registration of the Mastodon application names the callback of this service', () => {
  expect(documentedFields()['redirect_uris']).toBe(buildCallbackUrl('https://api.example.org', 'mastodon'))
})
