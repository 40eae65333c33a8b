import type { NewPage } from '../../../sandbox/platforms/meta/people.ts'
import { randomBytes } from 'node:crypto'
import { startMeta, type Meta, type MetaOptions } from '../../../sandbox/platforms/meta.ts'

export const REDIRECT_URI = 'https://api.example.test/api/platform/facebook/callback'
export const VERSION = 'v26.0'

export const SCOPES = [
  'instagram_basic',
  'instagram_content_publish',
  'instagram_manage_insights',
  'pages_show_list',
  'pages_read_engagement',
  'pages_manage_posts',
  'pages_manage_metadata',
  'public_profile',
  'business_management',
]

export const uniqueName = (prefix: string) => `${prefix}${randomBytes(6).toString('hex')}`

/** The check boxes of the dialog that are ticked, besides the account. */
export interface DeclinedGrants {
  decline?: string[]
  hide?: string[]
}

/** Presses a button of the dialog and returns the redirect. */
export async function decide(
  url: string,
  accountId: string,
  { decline = [], hide = [] }: DeclinedGrants = {},
  decision: 'allow' | 'deny' = 'allow',
): Promise<string> {
  const form = new URLSearchParams({ account: accountId, decision })
  for (const scope of decline) form.append('decline', scope)
  for (const page of hide) form.append('hide', page)
  const answer = await fetch(url, { method: 'POST', body: form, redirect: 'manual' })
  const location = answer.headers.get('location')
  if (location === null) throw new Error(`The page answered ${answer.status}: ${await answer.text()}`)
  return location
}

type Params = Record<string, string>

/** Returns a function that calls the graph directly, without our service. */
export function graphOf(meta: Pick<Meta, 'facebook'>) {
  return async function call<T = Record<string, unknown>>(
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    params: Params = {},
    token?: string,
  ): Promise<{ status: number; body: T; header(name: string): string | null; code: number | undefined }> {
    const url = new URL(`${meta.facebook.url}/${VERSION}${path}`)
    if (method !== 'POST') url.search = new URLSearchParams(params).toString()
    const answer = await fetch(url, {
      method,
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      ...(method === 'POST' && { body: new URLSearchParams(params) }),
    })
    const body = (await answer.json()) as T & { error?: { code: number } }
    return { status: answer.status, body, header: (name) => answer.headers.get(name), code: body.error?.code }
  }
}

/** A simulator with our application. */
export async function metaWorld(options: MetaOptions = {}) {
  const meta = await startMeta({ processingMs: 300, unreadableMs: 50, ...options })
  const app = meta.createApp({ name: 'postonce', redirectUris: [REDIRECT_URI] })
  const graph = graphOf(meta)

  const dialogUrl = (changes: Record<string, string | undefined> = {}) => {
    const params = {
      client_id: app.id,
      redirect_uri: REDIRECT_URI,
      state: 'a state',
      scope: SCOPES.join(','),
      response_type: 'code',
      ...changes,
    }
    const given = Object.entries(params).filter((entry): entry is [string, string] => entry[1] !== undefined)
    return `${meta.facebook.url}/${VERSION}/dialog/oauth?${new URLSearchParams(given)}`
  }
  const client = { client_id: app.id, client_secret: app.secret }

  /** A long-lived user token, obtained like an application does. */
  async function logIn(personId: string, declined?: DeclinedGrants, scopes = SCOPES): Promise<string> {
    const url = dialogUrl({ scope: scopes.join(',') })
    const code = new URL(await decide(url, personId, declined)).searchParams.get('code')!
    const exchange = { ...client, redirect_uri: REDIRECT_URI, code }
    const short = await graph<{ access_token: string }>('GET', '/oauth/access_token', exchange)
    const long = await graph<{ access_token: string }>('GET', '/oauth/access_token', {
      ...client,
      grant_type: 'fb_exchange_token',
      fb_exchange_token: short.body.access_token,
    })
    return long.body.access_token
  }

  /** Creates a person with pages of their own, and then one page for each of the portfolios. */
  function newPerson({
    instagram = true,
    takesDrafts = true,
    pages = 1,
    portfolios = [] as NewPage['portfolio'][],
  } = {}) {
    const own = [...Array<undefined>(pages), ...portfolios].map((portfolio) => ({
      name: uniqueName('Page '),
      username: uniqueName('page'),
      takesDrafts,
      ...(instagram && { instagram: { username: uniqueName('ig'), name: 'Ann of Instagram' } }),
      ...(portfolio && { portfolio }),
    }))
    return meta.createPerson({ name: uniqueName('Ann '), pages: own })
  }

  /** A page with its token, obtained like an application does. */
  async function newPage(scopes = SCOPES, declined?: DeclinedGrants) {
    const { person, pages } = newPerson()
    const userToken = await logIn(person.id, declined, scopes)
    const { body } = await graph<{ data: { access_token: string }[] }>(
      'GET',
      '/me/accounts',
      { fields: 'access_token' },
      userToken,
    )
    return { person, page: pages[0]!, userToken, token: body.data[0]!.access_token }
  }

  return { meta, app, client, graph, dialogUrl, logIn, newPerson, newPage, stop: () => meta.stop() }
}

export type MetaWorld = Awaited<ReturnType<typeof metaWorld>>
