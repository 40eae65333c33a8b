/**
 * What somebody at a browser does on the page that `authUrl` leads to: chooses the account and allows or denies.
 * @returns where the browser is sent then
 */
export async function consent(
  authUrl: string,
  accountId: string,
  decision: 'allow' | 'deny' = 'allow',
): Promise<string> {
  const answer = await fetch(authUrl, {
    method: 'POST',
    body: new URLSearchParams({ account: accountId, decision }),
    redirect: 'manual',
  })
  const location = answer.headers.get('location')
  if (location === null) throw new Error(`The page answered ${answer.status}: ${await answer.text()}`)
  return location
}
