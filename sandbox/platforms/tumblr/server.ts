import type { OutgoingHttpHeaders, Server } from 'node:http'
import type { SandboxResponse } from '../proxied-platform.ts'
import type { Crowd } from '../shared/crowd.ts'
import { errorPage } from '../shared/html.ts'
import { createSimulatorServer, type Call, type Route } from '../shared/server.ts'
import type { AccountLimits } from './limits.ts'
import type { MediaStore } from './media.ts'
import type { OAuth } from './oauth.ts'
import { postsPage, startPage } from './pages.ts'
import type { Posts } from './posts.ts'
import { envelope, Refusal } from './refusal.ts'
import { readOAuthHeader } from './signature.ts'
import type { Account, Blog, Post, State } from './state.ts'

interface ServerDeps {
  state: State
  oauth: OAuth
  media: MediaStore
  posts: Posts
  limits: AccountLimits
  base(): string
  crowd: Crowd
}

const MAX_BODY_BYTES = 520_000_000
const AVATAR_SIZES = ['16', '24', '30', '40', '48', '64', '96', '128', '512']
/** One teal pixel, which browsers stretch. */
const AVATAR = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkaPhfDwAEAQIAd3m3VgAAAABJRU5ErkJggg==',
  'base64',
)

/** Serves the part of Tumblr's API that a publishing service uses, and a few pages. */
export function createTumblrServer(deps: ServerDeps): Server {
  const { state, oauth, media, posts, limits, base, crowd } = deps

  const shown = (list: Post[]) =>
    list
      .filter((post) => post.state === 'published')
      .toReversed()
      .slice(0, 100)
      .map((post) => ({
        blog: state.blogs.get(post.blogId)!,
        url: posts.urlOf(post),
        timestamp: post.timestamp,
        tags: post.tags,
        content: post.content.map(media.present),
      }))

  /** Finds a blog by its short name, host or uuid. @throws Refusal */
  function blogOf({ url }: Call): Blog {
    const name = decodeURIComponent(url.pathname.split('/')[3] ?? '')
    const blog =
      state.blogs.get(name) ??
      state.blogs.values().find((one) => one.name === name || `${one.name}.tumblr.com` === name)
    if (!blog) throw new Refusal(404, 'Not Found')
    return blog
  }

  /** @throws Refusal unless the blog's owner signed the call */
  function authorOf(call: Call): { account: Account; blog: Blog } {
    const [account, blog] = [oauth.userOf(call), blogOf(call)]
    if (blog.accountId !== account.id) throw new Refusal(403, 'Forbidden')
    return { account, blog }
  }

  function readerOf(call: Call): { blog: Blog; isAuthor: boolean } {
    const [reader, blog] = [oauth.readerOf(call), blogOf(call)]
    return { blog, isAuthor: reader?.id === blog.accountId }
  }

  const followersOf = ({ metrics }: Blog) => metrics?.['followers'] ?? crowd.followers(Date.now())

  const routes: Route[] = [
    ['GET', /^\/$/, () => startPage(state.blogs.values(), shown(state.posts.values()))],
    ['GET', /^\/media\/(\d+)$/, ({ id }) => media.file(id)],
    ['GET', /^\/avatar\.png$/, () => ({ status: 200, headers: { 'content-type': 'image/png' }, bytes: AVATAR })],
    ['POST', /^\/oauth\/request_token$/, (call) => oauth.requestToken(call)],
    ['GET', /^\/oauth\/authorize$/, ({ params }) => oauth.authorize(params)],
    ['POST', /^\/oauth\/authorize$/, ({ params }) => oauth.decide(params)],
    // The reference says GET, RFC 5849 POST.
    ['GET', /^\/oauth\/access_token$/, (call) => oauth.accessToken(call)],
    ['POST', /^\/oauth\/access_token$/, (call) => oauth.accessToken(call)],
    ['GET', /^\/v2\/user\/info$/, (call) => userInfo(oauth.userOf(call))],
    ['GET', /^\/v2\/user\/limits$/, (call) => envelope(200, { user: limits.present(oauth.userOf(call)) })],
    ['GET', /^\/v2\/blog\/[^/]+\/info$/, (call) => blogInfo(readerOf(call).blog)],
    ['GET', /^\/v2\/blog\/[^/]+\/avatar(?:\/(\d+))?$/, avatar],
    [
      'GET',
      /^\/v2\/blog\/[^/]+\/followers$/,
      (call) => envelope(200, { total_users: followersOf(authorOf(call).blog), users: [] }),
    ],
    ['GET', /^\/v2\/blog\/[^/]+\/notes$/, (call) => posts.notes(readerOf(call).blog, call.params)],
    ['GET', /^\/v2\/blog\/[^/]+\/posts\/draft$/, (call) => posts.drafts(authorOf(call).blog, call.params)],
    [
      'GET',
      /^\/v2\/blog\/[^/]+\/posts$/,
      (call) => {
        const { blog, isAuthor } = readerOf(call)
        return posts.list(blog, call.params, isAuthor)
      },
    ],
    ['GET', /^\/v2\/blog\/[^/]+\/posts\/(\d+)$/, onePost],
    [
      'POST',
      /^\/v2\/blog\/[^/]+\/posts$/,
      (call) => {
        const { account, blog } = authorOf(call)
        return posts.create(account, blog, call.params)
      },
    ],
    [
      'PUT',
      /^\/v2\/blog\/[^/]+\/posts\/(\d+)$/,
      (call) => {
        const { account, blog } = authorOf(call)
        return posts.edit(account, blog, call.id, call.params)
      },
    ],
    [
      'POST',
      /^\/v2\/blog\/[^/]+\/post\/delete$/,
      (call) => {
        const { blog } = authorOf(call)
        posts.remove(posts.find(blog, call.params.text('id') ?? ''))
        return envelope(200, {})
      },
    ],
    ['GET', /^\/([\w-]+)$/, ({ id }) => postsPage(id, shown(posts.listOf(blogNamed(id).uuid)))],
    ['GET', /^\/[\w-]+\/(\d+)$/, ({ id, url }) => postPage(url.pathname.split('/')[1]!, id)],
  ]

  function blogNamed(name: string): Blog {
    const blog = state.blogs.values().find((one) => one.name === name)
    if (!blog) throw new Refusal(404, 'Not Found')
    return blog
  }

  function postPage(name: string, id: string): SandboxResponse {
    const list = shown([posts.find(blogNamed(name), id)])
    return list.length > 0 ? postsPage('Post', list) : errorPage(404, "There's nothing here.")
  }

  function onePost(call: Call): SandboxResponse {
    const { blog, isAuthor } = readerOf(call)
    const post = posts.find(blog, call.id)
    if (post.state !== 'published' && !isAuthor) throw new Refusal(404, 'Not Found')
    return envelope(200, posts.present(post, isAuthor))
  }

  function userInfo({ id, name }: Account): SandboxResponse {
    const blogs = state.blogs
      .values()
      .filter(({ accountId }) => accountId === id)
      .map((blog) => ({
        name: blog.name,
        title: blog.title,
        url: `https://${blog.name}.tumblr.com/`,
        uuid: blog.uuid,
        primary: blog.isPrimary,
        followers: followersOf(blog),
        type: 'public',
      }))
    return envelope(200, { user: { name, following: 0, likes: 0, default_post_format: 'html', blogs } })
  }

  function blogInfo(blog: Blog): SandboxResponse {
    const published = posts.listOf(blog.uuid).filter((post) => post.state === 'published')
    return envelope(200, {
      blog: {
        name: blog.name,
        title: blog.title,
        uuid: blog.uuid,
        url: `https://${blog.name}.tumblr.com/`,
        description: '',
        posts: published.length,
        updated: published.at(-1)?.timestamp ?? 0,
        avatar: [{ width: 512, height: 512, url: `${base()}/avatar.png` }],
      },
    })
  }

  function avatar(call: Call): SandboxResponse {
    blogOf(call)
    if (!AVATAR_SIZES.includes(call.id || '64')) throw new Refusal(400, 'Bad Request')
    const url = `${base()}/avatar.png`
    if (call.request.headers.authorization !== undefined) return envelope(200, { avatar_url: url })
    return { status: 302, headers: { location: url } }
  }

  return createSimulatorServer({
    base,
    routes,
    enter(request, url, headers) {
      const isApi = url.pathname.startsWith('/v2/')
      if (isApi) Object.assign(headers, countCall(request.headers.authorization, url))
      return {}
    },
    notFound: () => envelope(404, [], [{ title: 'Not Found', code: 0 }]),
    failed: () => envelope(500, [], [{ title: 'Something flubbed', code: 0 }]),
    maxBodyBytes: MAX_BODY_BYTES,
  })

  function countCall(authorization: string | undefined, url: URL): OutgoingHttpHeaders {
    const key = readOAuthHeader(authorization)?.get('oauth_consumer_key') ?? url.searchParams.get('api_key')
    return key && state.apps.get(key) ? limits.countCall(key) : {}
  }
}
