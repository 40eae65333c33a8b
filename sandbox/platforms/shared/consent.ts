import type { Answer } from '../fault-proxy.ts'
import { escapeHtml, page } from './html.ts'

interface ConsentRequest {
  title: string
  /** Who asks. */
  app: string
  /** What for. */
  scopes: string[]
  accounts: { id: string; label: string }[]
  /** More of the form, as HTML. */
  more?: string
}

/**
 * Where a user allows or denies. Nobody has a password here: whoever sits at the sandbox may be anybody. The form goes back to this
 * very address, with `account` and `decision`.
 */
export function consentPage({ title, app, scopes, accounts, more = '' }: ConsentRequest): Answer {
  const options = accounts.map(({ id, label }) => `<option value="${escapeHtml(id)}">${escapeHtml(label)}</option>`)
  return page(
    200,
    title,
    `<p><strong>${escapeHtml(app)}</strong> would like permission to access your account: ${scopes.map(escapeHtml).join(', ')}</p>
<form method="post">
<p><label>Account <select name="account">${options.join('')}</select></label></p>${more}
<p><button name="decision" value="allow">Allow</button> <button name="decision" value="deny">Deny</button></p>
</form>`,
  )
}

/**
 * What somebody at a browser does on the page that `authUrl` leads to: chooses the account and allows or denies.
 * @param decline scopes that are switched off before
 * @returns where the browser is sent then
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
