import type { SandboxResponse } from '../proxied-platform.ts'
import type { ContainerStore } from '../shared/graph/container-store.ts'
import { selectFields } from '../shared/graph/fields.ts'
import { badParameter, callerOf, GraphRefusal, noSuchObject, type GraphNode } from '../shared/graph/graph.ts'
import { graphTime, pageThrough } from '../shared/graph/lists.ts'
import type { CommentStore } from './comment-store.ts'
import type { MetaCall, MetaModule } from './graph.ts'
import { isShown } from './linked-accounts.ts'
import type { PagePosts } from './page-posts.ts'
import type { Comment, MetaState } from './state.ts'
import { requireScopes, requireToRead } from './tokens.ts'

interface CommentsDeps {
  state: MetaState
  comments: CommentStore
  posts: Pick<PagePosts, 'findPublic' | 'addressOf'>
  store: Pick<ContainerStore, 'posts'>
}

/** The object that a comment is below, as its product sees it. */
interface Commented {
  /** The id that the post's creator received. */
  id: string
  /** The page or professional account of the post. */
  authorId: string
  newId(): string
  maxCharacters: number
  /** The maximum of comments in one response. */
  maxPage: number
  defaultOrder: string
  /** @throws GraphRefusal when the token may not write comments */
  assertMayWrite(): void
  /** @throws GraphRefusal when the token may not read comments */
  assertMayRead(): void
  node(comment: Comment): GraphNode
}

/** No source states the number of characters of Instagram; that of captions is assumed. */
const MAX_CHARACTERS = { facebook: 8_000, instagram: 2_200 }
const MAX_PAGE = { facebook: 100, instagram: 50 }
const OLDEST_FIRST = 'chronological'
const NEWEST_FIRST = 'reverse_chronological'
const FILTERS = ['toplevel', 'stream']
/** https://developers.facebook.com/documentation/pages-api/comments-mentions, 16 April 2026. */
const TASKS = ['MODERATE', 'CREATE_CONTENT']

/**
 * Comments below posts of pages (https://developers.facebook.com/docs/graph-api/reference/object/comments) and of professional accounts
 * (https://developers.facebook.com/docs/instagram-platform/instagram-graph-api/reference/ig-media/comments, 21 January 2025).
 */
export function createComments({ state, comments, posts, store }: CommentsDeps): MetaModule {
  /** @throws GraphRefusal unless the token shows the post */
  function commentedBy(call: MetaCall): Commented {
    const [id = ''] = call.ids
    const commented = onPage(id, call) ?? onInstagram(id, call)
    if (!commented) throw noSuchObject(id, call.method)
    return commented
  }

  function onPage(id: string, call: MetaCall): Commented | null {
    const caller = callerOf(call)
    const post = posts.findPublic(id)
    if (!post || caller.page?.id !== post.pageId) return null
    const { page } = caller
    return {
      id: post.videoId ?? post.id,
      authorId: page.id,
      newId: () => state.newId(`${post.id.split('_')[1]}_`),
      maxCharacters: MAX_CHARACTERS.facebook,
      maxPage: MAX_PAGE.facebook,
      defaultOrder: OLDEST_FIRST,
      assertMayRead: () => requireToRead(caller, 'pages_read_engagement'),
      assertMayWrite() {
        requireToRead(caller, 'pages_read_engagement')
        requireScopes(caller, 'pages_manage_engagement')
        const missing = page.tasks.includes('MANAGE') ? [] : TASKS.filter((task) => !page.tasks.includes(task))
        if (missing.length === 0) return
        const message = `(#200) The user must be able to perform the task ${missing.join(', ')} on the page.`
        throw new GraphRefusal({ code: 200, status: 403, message })
      },
      node: (comment) => facebookNode(comment, `${posts.addressOf(post)}?comment_id=${comment.id.split('_')[1]}`),
    }
  }

  function onInstagram(id: string, call: MetaCall): Commented | null {
    const caller = callerOf(call)
    const post = store.posts.get(id)
    if (!post || !isShown(state, post.accountId, caller)) return null
    const requireAll = () =>
      requireScopes(caller, 'instagram_basic', 'instagram_manage_comments', 'pages_read_engagement')
    return {
      id,
      authorId: post.accountId,
      newId: () => state.newId('178'),
      maxCharacters: MAX_CHARACTERS.instagram,
      maxPage: MAX_PAGE.instagram,
      defaultOrder: NEWEST_FIRST,
      assertMayRead: requireAll,
      assertMayWrite: requireAll,
      node: instagramNode,
    }
  }

  function create(call: MetaCall): SandboxResponse {
    const commented = commentedBy(call)
    commented.assertMayWrite()
    const text = (call.params.get('message') ?? '').trim()
    if (text === '') throw badParameter('The parameter message is required')
    if ([...text].length > commented.maxCharacters) {
      throw badParameter(`Param message must be at most ${commented.maxCharacters} characters long.`)
    }
    const comment = comments.add({ id: commented.newId(), postId: commented.id, authorId: commented.authorId, text })
    return { status: 200, body: selectFields(commented.node(comment), call.params.get('fields') ?? 'id') }
  }

  function list(call: MetaCall): SandboxResponse {
    const commented = commentedBy(call)
    commented.assertMayRead()
    const newestFirst = comments.below(commented.id)
    const isReversed = orderOf(call, commented.defaultOrder) === OLDEST_FIRST
    return pageThrough(
      isReversed ? newestFirst.toReversed() : newestFirst,
      call.params,
      (comment) => selectFields(commented.node(comment), call.params.get('fields')),
      commented.maxPage,
    )
  }

  const nameOf = (authorId: string) => state.pages.get(authorId)?.name ?? authorId

  function facebookNode({ id, authorId, text, createdAt }: Comment, address: string): GraphNode {
    return {
      type: 'Comment',
      byDefault: ['created_time', 'from', 'message', 'id'],
      fields: {
        id,
        message: text,
        created_time: graphTime(createdAt),
        from: { id: authorId, name: nameOf(authorId) },
        permalink_url: address,
      },
    }
  }

  function instagramNode({ id, authorId, text, createdAt }: Comment): GraphNode {
    const username = state.instagramAccounts.get(authorId)?.username ?? authorId
    return {
      type: 'IGComment',
      byDefault: ['timestamp', 'text', 'id'],
      fields: { id, text, timestamp: graphTime(createdAt), username, from: { id: authorId, username }, hidden: false },
    }
  }

  return {
    routes: [
      ['POST', /^\/(\d+(?:_\d+)?)\/comments$/, create],
      ['GET', /^\/(\d+(?:_\d+)?)\/comments$/, list],
    ],
    node(id, call) {
      const comment = comments.find(id)
      if (!comment || !call.caller) return null
      const commented = onPage(comment.postId, call) ?? onInstagram(comment.postId, call)
      commented?.assertMayRead()
      return commented?.node(comment) ?? null
    },
  }
}

/** @throws GraphRefusal for an unknown order or filter */
function orderOf({ params }: MetaCall, defaultOrder: string): string {
  const [order = defaultOrder, filter = 'toplevel'] = [params.get('order'), params.get('filter')]
  const orders = [OLDEST_FIRST, NEWEST_FIRST]
  if (!orders.includes(order)) throw badParameter(`Param order must be one of {${orders.join(', ')}}`)
  if (!FILTERS.includes(filter)) throw badParameter(`Param filter must be one of {${FILTERS.join(', ')}}`)
  return order
}
