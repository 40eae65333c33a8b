import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Provider } from 'oidc-provider'
import type { SandboxResponse } from '../../platforms/proxied-platform.ts'
import { NEW_ACCOUNT } from '../../platforms/shared/consent.ts'
import { errorPage } from '../../platforms/shared/html.ts'
import { readParams, type Params } from '../../platforms/shared/params.ts'
import { choicePage, startPage } from './pages.ts'
import type { Person, State } from './state.ts'

interface ServerDeps {
  state: State
  provider(): Provider
  createPerson(person: Omit<Person, 'id'>): Person
}

type Interaction = Awaited<ReturnType<Provider['interactionDetails']>>

const MAX_BODY_BYTES = 100_000
const ALL_DONE = { mergeWithLastSubmission: false }

/** Serves the provider and the page for choosing an account. */
export function createIdentityServer({ state, provider, createPerson }: ServerDeps): Server {
  /** Returns `null` when the form names no valid account. */
  function chosen(params: Params): Person | null {
    const id = params.text('account') ?? ''
    if (id !== NEW_ACCOUNT) return state.people.get(id) ?? null
    const email = params.text('email')?.trim() || null
    const name = params.text('name')?.trim() ?? ''
    return createPerson({ name, email, emailVerified: params.text('verified') === 'yes', picture: null })
  }

  async function interact(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const interaction = await provider().interactionDetails(request, response)
    if (request.method !== 'POST') {
      return send(response, choicePage(String(interaction.params['client_id']), state.people.values()))
    }
    const params = await readParams(request, url, MAX_BODY_BYTES)
    if (params.text('decision') !== 'allow') {
      const refused = { error: 'access_denied', error_description: 'Access was denied' }
      return provider().interactionFinished(request, response, refused, ALL_DONE)
    }
    const person = chosen(params)
    if (!person) return send(response, errorPage(422, 'Choose an account'))
    await forgetOther(interaction, person)
    const result = { login: { accountId: person.id, remember: false }, select_account: {}, consent: {} }
    return provider().interactionFinished(request, response, result, ALL_DONE)
  }

  /** Logs out the previous person of this browser, since Google changes accounts without a prompt. */
  async function forgetOther(interaction: Interaction, { id }: Person): Promise<void> {
    const { session } = interaction
    if (!session || session.accountId === id) return
    await (await provider().Session.findByUid(session.uid))?.destroy()
    delete interaction.session
    await interaction.save(interaction.exp - Math.floor(Date.now() / 1_000))
  }

  return createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://identity')
    if (url.pathname === '/') return send(response, startPage(state.people.values()))
    if (!url.pathname.startsWith('/interaction/')) return void provider().callback()(request, response)
    interact(request, response, url).catch((error: unknown) => send(response, errorPage(400, String(error))))
  })
}

function send(response: ServerResponse, { status, headers, body }: SandboxResponse): void {
  response.writeHead(status, headers).end(body)
}
