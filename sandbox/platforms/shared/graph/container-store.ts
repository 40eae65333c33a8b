import { randomBytes } from 'node:crypto'
import type { LedgerEntry } from '../../proxied-platform.ts'
import type { Table } from '../tables.ts'
import type { Counted, Counting } from './insights.ts'

type Kind = 'TEXT' | 'IMAGE' | 'VIDEO' | 'CAROUSEL'

interface ShownFile {
  url: string
  mimeType: string
  altText: string
}

/** An unpublished post. */
export interface Container {
  id: string
  accountId: string
  kind: Kind
  text: string
  file: ShownFile | null
  children: string[]
  /** Part of a future carousel, so it cannot be published itself. */
  isChild: boolean
  createdAt: number
  /** When its processing ends. */
  readyAt: number
  /** The error of its processing, if it fails. */
  problem: string | null
  isPublished: boolean
  /** The post that it is a reply to. */
  replyTo?: string
  /** True for a story, which the list of posts lacks. */
  isStory?: boolean
  /** Further fields of the node of the post. */
  details?: Record<string, unknown>
  /** True while reads omit its status. */
  isSilent?: boolean
}

export interface ContainerPost {
  id: string
  accountId: string
  shortcode: string
  kind: Kind
  text: string
  files: ShownFile[]
  createdAt: number
  /** The post that it is a reply to. */
  replyTo?: string
  isStory?: boolean
  details?: Record<string, unknown>
  /** True for a repost of another author's post. */
  isRepost?: boolean
  counted?: Counted
}

type ContainerStatus = 'IN_PROGRESS' | 'FINISHED' | 'PUBLISHED' | 'ERROR' | 'EXPIRED'

interface ContainerStoreOptions {
  table<T>(name: string): Table<T>
  newId(): string
  counting: Counting
  /** How long the processing takes, milliseconds. */
  processingMs: { image: number; video: number }
  /** How long a container can be published, milliseconds. */
  lifeMs?: number
}

const DAY_MS = 86_400_000

/** Containers and their posts, the same on Threads and Instagram (docs/reference/platforms.md). */
export function createContainerStore(options: ContainerStoreOptions) {
  const { table, newId, counting, processingMs, lifeMs = DAY_MS } = options
  const containers = table<Container>('containers')
  const posts = table<ContainerPost>('containerPosts')
  const nextProblems: string[] = []

  function workMs({ kind, children }: Pick<Container, 'kind' | 'children'>): number {
    if (kind === 'TEXT') return 0
    if (kind !== 'CAROUSEL') return processingMs[kind === 'IMAGE' ? 'image' : 'video']
    return children.length > 0 ? processingMs.image : 0
  }

  function addPost(
    fields: Omit<ContainerPost, 'id' | 'shortcode' | 'createdAt'>,
    createdAt = Date.now(),
  ): ContainerPost {
    const id = newId()
    const shortcode = randomBytes(8).toString('base64url').replaceAll('-', 'A')
    return posts.set(id, { ...fields, id, shortcode, createdAt })
  }

  function filesOf({ file, children }: Container): ShownFile[] {
    const own = file ? [file] : []
    return [...own, ...children.flatMap((id) => containers.get(id)?.file ?? [])]
  }

  const isReply = ({ replyTo }: ContainerPost): boolean => replyTo !== undefined
  const isPost = (post: ContainerPost): boolean => !isReply(post)
  const isListed = (post: ContainerPost): boolean => isPost(post) && !post.isStory
  const isRecent = ({ createdAt }: ContainerPost): boolean => Date.now() - createdAt < DAY_MS

  function allOf(accountId: string, which: (post: ContainerPost) => boolean): ContainerPost[] {
    return posts
      .values()
      .filter((post) => post.accountId === accountId && which(post))
      .toReversed()
  }

  return {
    posts,
    counting,

    make(
      fields: Pick<
        Container,
        'accountId' | 'kind' | 'text' | 'file' | 'children' | 'isChild' | 'problem' | 'replyTo' | 'isStory' | 'details'
      >,
    ): Container {
      const id = newId()
      const createdAt = Date.now()
      return containers.set(id, {
        ...fields,
        id,
        problem: fields.problem ?? nextProblems.shift() ?? null,
        createdAt,
        readyAt: createdAt + workMs(fields),
        isPublished: false,
      })
    },

    find: (id: string): Container | null => containers.get(id) ?? null,

    createdSince: (accountId: string, since: number): number =>
      containers.values().filter((one) => one.accountId === accountId && one.createdAt >= since).length,

    statusOf({ isPublished, createdAt, readyAt, problem }: Container): ContainerStatus {
      if (isPublished) return 'PUBLISHED'
      if (Date.now() - createdAt > lifeMs) return 'EXPIRED'
      if (Date.now() < readyAt) return 'IN_PROGRESS'
      return problem === null ? 'FINISHED' : 'ERROR'
    },

    /**
     * The effect of publishing a container twice is undocumented, so the worst case is assumed: it is published twice.
     * The children of a carousel are used up with it.
     */
    publish(container: Container): ContainerPost {
      for (const id of [container.id, ...container.children]) {
        containers.set(id, { ...containers.get(id)!, isPublished: true })
      }
      const { accountId, kind, text, replyTo, isStory = false, details } = container
      const more = {
        ...(replyTo !== undefined && { replyTo }),
        ...(isStory && { isStory }),
        ...(details && { details }),
      }
      return addPost({ accountId, kind, text, files: filesOf(container), ...more })
    },

    /** Returns the posts of an account that are neither replies nor stories, newest first. */
    postsOf: (accountId: string): ContainerPost[] => allOf(accountId, isListed),

    /** Returns the stories of an account of the last day, newest first. */
    storiesOf: (accountId: string): ContainerPost[] =>
      allOf(accountId, (post) => post.isStory === true && isRecent(post)),

    /** Returns the replies of an account, newest first. */
    repliesOf: (accountId: string): ContainerPost[] => allOf(accountId, isReply),

    usedQuota: (accountId: string): number => allOf(accountId, isPost).filter(isRecent).length,
    usedReplyQuota: (accountId: string): number => allOf(accountId, isReply).filter(isRecent).length,

    /** The next containers fail with these problems. */
    failNext: (...problems: string[]): void => void nextProblems.push(...problems),

    /** The containers of the latest carousel of an account. */
    childrenOf(accountId: string): Container[] {
      const whole = containers.values().findLast((one) => one.accountId === accountId && one.children.length > 0)
      return whole?.children.map((id) => containers.get(id)!) ?? []
    },

    /** Makes a container older by this time. */
    age(id: string, ms: number): void {
      const container = containers.get(id)!
      containers.set(id, { ...container, createdAt: container.createdAt - ms })
    },

    /** Reads of a container omit its status, as some of the real ones do for a while. */
    silence(id: string, isSilent = true): void {
      containers.set(id, { ...containers.get(id)!, isSilent })
    },

    /** The platform no longer knows a container. */
    lose(id: string): void {
      containers.delete(id)
    },

    /** Publishes as the account's owner does in the app. */
    publishElsewhere: (accountId: string, text: string, createdAt?: number): ContainerPost =>
      addPost({ accountId, kind: 'TEXT', text, files: [] }, createdAt),

    repostElsewhere: (accountId: string): ContainerPost =>
      addPost({ accountId, kind: 'TEXT', text: '', files: [], isRepost: true }),

    rewrite(id: string, text: string): void {
      posts.set(id, { ...posts.get(id)!, text })
    },

    ledger(nameOf: (accountId: string) => string): LedgerEntry[] {
      return posts.values().map(({ id, accountId, text, files, createdAt, replyTo }) => ({
        id,
        account: nameOf(accountId),
        text,
        media: files.map(({ mimeType, altText }) => ({ type: mimeType, altText })),
        createdAt: new Date(createdAt).toISOString(),
        ...(replyTo !== undefined && { replyTo }),
      }))
    },

    /** The part of the control interface for posts, and for calls that publish. */
    controls: {
      async deletePost(id: string): Promise<boolean> {
        const isThere = posts.get(id) !== undefined
        posts.delete(id)
        return isThere
      },

      async setPostMetrics(id: string, metrics: Record<string, number>): Promise<boolean> {
        const post = posts.get(id)
        if (post) posts.set(id, { ...post, counted: counting.add(post.counted, metrics) })
        return post !== undefined
      },

      controls: counting.controls,

      textOf(body: string): string | undefined {
        return containers.get(new URLSearchParams(body).get('creation_id') ?? '')?.text
      },
    },
  }
}

export type ContainerStore = ReturnType<typeof createContainerStore>
