import type { Server } from 'node:http'
import type { GraphModule } from '../shared/graph/graph.ts'
import type { ContainerPost, ContainerStore } from '../shared/graph/container-store.ts'
import { graphParams } from '../shared/graph/params.ts'
import { GRAPH_RESPONSES, graphRoutes, tokenIn } from '../shared/graph/routes.ts'
import { errorPage } from '../shared/html.ts'
import { accountPicture } from '../shared/picture.ts'
import { postsPage, startPage, type ShownPost } from '../shared/post-pages.ts'
import { createSimulatorServer, type Call, type Route } from '../shared/server.ts'
import type { createLogin } from './login.ts'
import type { State } from './state.ts'
import type { Caller, Tokens } from './tokens.ts'

interface ServerDeps {
  state: State
  store: ContainerStore
  tokens: Tokens
  login: ReturnType<typeof createLogin>
  modules: GraphModule<Caller>[]
  base(): string
}

const MAX_BODY_BYTES = 1_048_576
const MAX_SHOWN = 100
const NOTHING_HERE = errorPage(404, 'This page is not available right now')

/** Serves the graph, the login page and a few pages. */
export function createThreadsServer({ state, store, tokens, login, modules, base }: ServerDeps): Server {
  const tokenCall = ({ request, params }: Call) => {
    const token = tokenIn(request) ?? params.text('access_token')
    const caller = token === undefined ? null : tokens.callerBy(token)
    return { method: 'GET', params: graphParams(params), caller, ids: [] }
  }

  const routes: Route[] = [
    ['GET', /^\/$/, () => startPage('Threads sandbox', accounts(), shown(store.posts.values().toReversed()))],
    ['GET', /^\/@([\w.]+)$/, ({ id }) => ofAccount(id)],
    ['GET', /^\/@[\w.]+\/post\/([\w-]+)$/, ({ id }) => onePost(id)],
    ['GET', /^\/picture\/(\d+)$/, ({ id }) => accountPicture(id)],
    ['GET', /^\/oauth\/authorize$/, ({ params }) => login.showPage(graphParams(params))],
    ['POST', /^\/oauth\/authorize$/, ({ params }) => login.decide(graphParams(params))],
    ['POST', /^\/oauth\/access_token$/, ({ params }) => login.exchangeCode(graphParams(params))],
    ['GET', /^\/access_token$/, (call) => tokens.exchange(tokenCall(call))],
    ['GET', /^\/refresh_access_token$/, (call) => tokens.refresh(tokenCall(call))],
    ...graphRoutes<Caller>({
      modules,
      version: /^\/v1\.0/,
      callerBy: (token) => tokens.callerBy(token),
      idOf: ({ account }) => account.id,
    }),
  ]

  function accounts() {
    return state.accounts
      .values()
      .map(({ username, name }) => ({ address: `/@${username}`, name: `@${username}`, note: name }))
  }

  function ofAccount(username: string) {
    const account = state.accounts.values().find((one) => one.username === username)
    return account ? postsPage(`@${username}`, shown(store.postsOf(account.id))) : NOTHING_HERE
  }

  function onePost(shortcode: string) {
    const post = store.posts.values().find((one) => one.shortcode === shortcode)
    return post ? postsPage('Post', shown([post])) : NOTHING_HERE
  }

  function shown(list: ContainerPost[]): ShownPost[] {
    return list.slice(0, MAX_SHOWN).map(({ id, accountId, shortcode, text, files, createdAt }) => {
      const author = `@${state.accounts.get(accountId)!.username}`
      const address = `/${author}/post/${shortcode}`
      return { id, address, author, text, link: null, media: files, createdAt: new Date(createdAt).toISOString() }
    })
  }

  return createSimulatorServer({
    base,
    routes,
    enter: () => ({}),
    ...GRAPH_RESPONSES,
    maxBodyBytes: MAX_BODY_BYTES,
  })
}
