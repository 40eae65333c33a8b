import type { Server } from 'node:http'
import { errorPage } from '../shared/html.ts'
import { GRAPH_RESPONSES, graphRoutes } from '../shared/graph/routes.ts'
import { graphParams } from '../shared/graph/params.ts'
import { accountPicture } from '../shared/picture.ts'
import { postsPage, startPage } from '../shared/post-pages.ts'
import { createSimulatorServer, type Route } from '../shared/server.ts'
import { shownPosts } from './facebook.ts'
import type { MetaModule } from './graph.ts'
import type { createInstagram } from './instagram.ts'
import { assertProof, type createLogin } from './login.ts'
import type { PagePosts } from './page-posts.ts'
import type { MetaState, PagePost } from './state.ts'
import type { Tokens } from './tokens.ts'
import { createUsage } from './usage.ts'

interface ServerDeps {
  state: MetaState
  tokens: Tokens
  login: ReturnType<typeof createLogin>
  posts: PagePosts
  instagram: ReturnType<typeof createInstagram>
  modules: MetaModule[]
  base(): string
  callsPerHour: number
}

const MAX_BODY_BYTES = 1_048_576
/** The API versions of the last two years. */
const VERSION = /^\/v2[2-6]\.0/
const DIALOG = /^\/v2[2-6]\.0\/dialog\/oauth$/
const MAX_SHOWN = 100

/** Serves the graph, the login dialog and a few pages. */
export function createMetaServer(deps: ServerDeps): Server {
  const { state, tokens, login, posts, instagram } = deps

  const shown = (which: (PagePost | undefined)[]) =>
    shownPosts(
      state,
      posts,
      which.filter((post) => post !== undefined),
    )
  const newestFirst = () =>
    [...shown(state.posts.values()), ...instagram.posts()]
      .toSorted((one, other) => other.createdAt.localeCompare(one.createdAt))
      .slice(0, MAX_SHOWN)

  const pages: Route[] = [
    ['GET', /^\/$/, () => startPage('Facebook and Instagram sandbox', accounts(), newestFirst())],
    ['GET', /^\/picture\/(\d+)$/, ({ id }) => accountPicture(id)],
    ['GET', DIALOG, ({ params }) => login.showDialog(graphParams(params))],
    ['POST', DIALOG, ({ params }) => login.decide(graphParams(params))],
    ['GET', /^\/(\d+)$/, ({ id }) => ofPage(id)],
    ['GET', /^\/(\d+_\d+)$/, ({ id }) => onePost(state.posts.get(id))],
    ['GET', /^\/(\d+\/posts\/\d+)$/, ({ id }) => onePost(state.posts.get(id.replace('/posts/', '_')))],
    ['GET', /^\/reel\/(\d+)\/?$/, ({ id }) => onePost(state.posts.values().find(({ videoId }) => videoId === id))],
    ['GET', /^\/((?:p|reel|stories\/[\w.]+)\/[\w-]+\/)$/, ({ id }) => ofInstagram(`/${id}`)],
  ]

  function accounts() {
    return state.pages.values().map(({ id, name, personId, instagramId }) => {
      const account = state.instagramAccounts.get(instagramId ?? '')
      const owner = state.persons.get(personId)!.name
      return { address: `/${id}`, name, note: `page of ${owner}${account ? `, Instagram @${account.username}` : ''}` }
    })
  }

  function ofPage(id: string) {
    const page = state.pages.get(id)
    return page ? postsPage(page.name, shown(posts.listOf(id).toReversed())) : NOTHING_HERE
  }

  function ofInstagram(address: string) {
    const post = instagram.posts().find((one) => one.address === address)
    return post ? postsPage('Post', [post]) : NOTHING_HERE
  }

  function onePost(post: PagePost | undefined) {
    const found = shown([post])
    return found.length > 0 ? postsPage('Post', found) : NOTHING_HERE
  }

  const graph = graphRoutes({
    modules: deps.modules,
    version: VERSION,
    callerBy(text, { params }) {
      const caller = tokens.callerBy(text)
      assertProof(caller.token, state.apps.get(caller.token.appId), params.text('appsecret_proof'))
      return caller
    },
    idOf: ({ page, person }) => (page ?? person).id,
    count: createUsage({ callsPerHour: deps.callsPerHour }),
  })

  return createSimulatorServer({
    base: deps.base,
    routes: [...pages, ...graph],
    enter: () => ({}),
    ...GRAPH_RESPONSES,
    maxBodyBytes: MAX_BODY_BYTES,
  })
}

const NOTHING_HERE = errorPage(404, 'This content is not available right now')
