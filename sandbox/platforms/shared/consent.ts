import type { SandboxResponse } from '../proxied-platform.ts'
import { errorPage, escapeHtml, page } from './html.ts'
import { RefusedCall } from './refused-call.ts'

/** The value of `account` that creates one. */
export const NEW_ACCOUNT = 'new'

interface ConsentRequest {
  title: string
  /** The name of the application. */
  app: string
  /** The requested permissions. */
  scopes: string[]
  accounts: { id: string; label: string }[]
  /** Additional HTML for an existing account. */
  more?: string
  /** The fields of a new account, as HTML. */
  newFields: string
}

/**
 * The page on which a user allows or denies access, with an existing or a new account. Sandbox accounts have no
 * passwords. Both forms send `account` and `decision` to this URL; they are separate, so that Enter submits the right
 * one.
 */
export function consentPage({ title, app, scopes, accounts, more = '', newFields }: ConsentRequest): SandboxResponse {
  const options = accounts.map(({ id, label }) => `<option value="${escapeHtml(id)}">${escapeHtml(label)}</option>`)
  const existing =
    options.length === 0
      ? ''
      : `<p><label>Account <select name="account">${options.join('')}</select></label></p>${more}`
  return page(
    200,
    title,
    `<p><strong>${escapeHtml(app)}</strong> requests permission to access your account: ${scopes.map(escapeHtml).join(', ')}</p>
<form method="post">
${existing}
<p>${existing && ALLOW} <button name="decision" value="deny">Deny</button></p>
</form>
<form method="post" id="new">
<fieldset><legend>${existing ? 'Or create a' : 'Create a'} new account</legend><input type="hidden" name="account" value="${NEW_ACCOUNT}">
${newFields}
<p><button name="decision" value="allow">Create and allow</button></p></fieldset>
</form>`,
  )
}

const ALLOW = '<button name="decision" value="allow">Allow</button>'

/** The only field of a new account on platforms that need just a name. */
export function nameField(label: string, hint = ''): string {
  return `<p><label>${escapeHtml(label)} <input name="name" required autocomplete="off"></label> ${escapeHtml(hint)}</p>`
}

interface Accounts<T> {
  find(id: string): T | undefined
  /** Returns why a name is not allowed, or null. */
  problemOf(name: string): string | null
  create(name: string): T
}

/**
 * Returns the account that the form names, or the new one it requests.
 * @throws RefusedCall with a page when there is no such account or its name is not allowed
 */
export function chosenAccount<T>(
  { account, name }: { account: string | undefined; name: string | undefined },
  { find, problemOf, create }: Accounts<T>,
): T {
  if (account !== NEW_ACCOUNT) return find(account ?? '') ?? refuse('Choose an account')
  const wanted = name?.trim() ?? ''
  const problem = wanted === '' ? 'Enter a name for the new account' : problemOf(wanted)
  return problem === null ? create(wanted) : refuse(problem)
}

function refuse(problem: string): never {
  throw new RefusedCall(errorPage(422, problem))
}

export const nameTaken = (name: string) => `The name ${name} is in use. Go back and choose another one.`

/**
 * Acts as a user on the page at `authUrl`: chooses the account and allows or denies.
 * @param decline scopes that are switched off first
 * @returns the redirect of the page
 */
export async function consent(
  authUrl: string,
  accountId: string,
  decision: 'allow' | 'deny' = 'allow',
  decline: string[] = [],
): Promise<string> {
  const chosen = [['account', accountId], ['decision', decision], ...decline.map((scope) => ['decline', scope])]
  const answer = await fetch(authUrl, {
    method: 'POST',
    body: new URLSearchParams(chosen as [string, string][]),
    redirect: 'manual',
  })
  const location = answer.headers.get('location')
  if (location === null) throw new Error(`The page answered ${answer.status}: ${await answer.text()}`)
  return location
}
