import type { SandboxResponse } from '../proxied-platform.ts'
import { consentPage, nameField } from '../shared/consent.ts'
import { escapeHtml } from '../shared/html.ts'
import type { Page, Person } from './state.ts'

/** The check boxes select what the person does not grant. */
export function dialogPage(
  app: string,
  scopes: string[],
  persons: { person: Person; pages: Page[] }[],
): SandboxResponse {
  const accounts = persons.map(({ person, pages }) => {
    const names = pages.map(({ name }) => name).join(', ') || 'no page'
    return { id: person.id, label: `${person.name} (${names})` }
  })
  const boxes = (name: string, entries: [value: string, label: string][]) =>
    entries
      .map(
        ([value, label]) =>
          `<li><label><input type="checkbox" name="${name}" value="${escapeHtml(value)}"> ${escapeHtml(label)}</label></li>`,
      )
      .join('')
  const allowances = scopes.map((scope): [string, string] => [scope, scope])
  const pages = persons.flatMap(({ pages: own }) => own).map(({ id, name }): [string, string] => [id, name])
  const newFields = nameField('Name', 'comes with a page and an Instagram account')
  const more = `<p>Do not grant these permissions:</p><ul>${boxes('decline', allowances)}</ul><p>Do not share these pages:</p><ul>${boxes('hide', pages)}</ul>`
  return consentPage({ title: 'Log in with Facebook', app, scopes, accounts, more, newFields })
}
