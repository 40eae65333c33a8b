import type { SandboxResponse } from '../../platforms/proxied-platform.ts'
import { consentPage } from '../../platforms/shared/consent.ts'
import { escapeHtml, page } from '../../platforms/shared/html.ts'
import type { Person } from './state.ts'

const NEW_FIELDS = `<p><label>Email address <input name="email" type="email"></label> (optional)</p>
<p><label>Name <input name="name"></label></p>
<p><label><input name="verified" type="checkbox" value="yes" checked> The address is verified</label></p>`

export function choicePage(app: string, people: Person[]): SandboxResponse {
  return consentPage({
    title: 'Sign in with the identity sandbox',
    app,
    scopes: ['name', 'email address', 'picture'],
    accounts: people.map((person) => ({ id: person.id, label: labelOf(person) })),
    newFields: NEW_FIELDS,
  })
}

/** The start page of the simulated provider. */
export function startPage(people: Person[]): SandboxResponse {
  const list = people.map((person) => `<li>${escapeHtml(labelOf(person))}</li>`)
  return page(
    200,
    'Identity sandbox',
    `<p>This server simulates Google. Accounts are created on the page that a login opens.</p><ul>${list.join('')}</ul>`,
  )
}

function labelOf({ name, email, emailVerified }: Person): string {
  return `${name} <${email ?? 'no email address'}>${email !== null && !emailVerified ? ' (not verified)' : ''}`
}
