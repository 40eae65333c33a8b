import type { PostCounts } from '../domain/analytics/analytics.ts'
import type { Content, MediaItem, Published } from '../domain/posts/post.ts'
import type { Platform } from '../domain/shared/platforms.ts'
import type { PostingRules } from '../domain/posts/posting-rules.ts'

/** What is to be published on one platform: the effective content, overrides already applied. */
export interface OutgoingPost {
  postId: string
  content: Content
}

/** A connected account with its secrets in plain. Lives in memory only, for one attempt. */
export interface Credentials {
  /** The account's id on the platform, for Bluesky the DID. */
  accountId: string
  handle: string
  /** Base address of this account's server, where the platform has one per account. */
  serviceUrl?: string
  accessToken: string
  /** What calls are signed with where the token alone is not enough (OAuth 1.0a). */
  tokenSecret?: string
  refreshToken?: string
  /** When the access token ends. */
  expiresAt?: Date
  /** When the connection ends unless it is renewed before, for Bluesky the end of the refresh token; absent where there is no end. */
  endsAt?: Date
  /** Grows with every stored change of the secrets; saving tokens or health is conditional on it. */
  version: number
}

export interface Profile {
  displayName: string
  handle: string
  /** Absolute http(s) address, or null. */
  avatar: string | null
  description?: string
}

/**
 * What one delivery remembers between attempts. `key` and `startedAt` are fixed before the first visible call and stay
 * the same for all its repeats. `save` is durable before it returns, and throws when the post, its content or the account changed meanwhile.
 */
export interface DeliveryCheckpoints {
  key: string
  startedAt: Date
  /** Whether an earlier call with this key may have been accepted. */
  isRepeat: boolean
  get(name: string): string | undefined
  save(name: string, value: string): Promise<void>
}

/** Invisible preparation happens before the claim, so it has no key and no `startedAt` yet. */
export type Checkpoints = Pick<DeliveryCheckpoints, 'get' | 'save'>

/** A post's media in object storage. */
export interface MediaSource {
  /**
   * The bytes of a media item, streamed; they must be read or cancelled.
   * @throws MediaUnavailableError when absent, empty, too large or not what its type says
   */
  open(
    item: MediaItem,
    options: CallOptions,
  ): Promise<{ stream: ReadableStream<Uint8Array>; sizeBytes: number; mimeType: string }>
  /** The public address of a media item, for a platform that fetches it itself. Checks and throws as `open` does. */
  publicUrl(item: MediaItem, options: CallOptions): Promise<string>
  /**
   * Stores what a media item was converted to, and answers its public address: equal bytes, equal address. It stays for
   * at least half a day; who needs it after that keeps it again.
   */
  storeCopy(
    item: MediaItem,
    copy: { bytes: Uint8Array; mimeType: 'image/jpeg' | 'image/png' },
    options: CallOptions,
  ): Promise<string>
}

/** What adapters learn of a server and need after a restart; every process sees the same. Nothing in it is secret or about a user. */
export interface PlatformFacts {
  find(name: string): Promise<string | null>
  save(name: string, value: string): Promise<void>
}

export interface CallOptions {
  /** Aborts the call at the attempt's deadline or when the worker is told to stop. */
  signal: AbortSignal
}

/** What `reconcile` answers where it found nothing; see `PlatformAdapter`. */
export type NotFoundResult = 'absent' | 'undecidable' | 'in-flight'

/** What the search for a trace needs besides. */
export interface SearchOptions extends CallOptions {
  /** When the latest visible call began: one that was given up may still be at work on the platform for a while. */
  calledAt: Date
  /** Whether that call was answered, so that no server still works on it (`PlatformError.answered`). */
  wasAnswered: boolean
  /** Whether the platform's post is on record as that of another post of ours: then it is no candidate. */
  isTaken(platformPostId: string): Promise<boolean>
}

/**
 * What a platform is to the rest of the service. Adapters get base addresses and timeouts when they are made; nothing reads configuration.
 * Every method throws `PlatformError` and nothing else on trouble with the platform. `media_not_ready` from `prepare` means that the platform
 * is at work on media it has: it is asked again for as long as that takes. Media it lost and has to be sent again is `transient`.
 *
 * Exactly once rests on this contract: `prepare` does nothing the public can see and may be repeated or thrown away at any time;
 * `publish` makes exactly one call that can make the post visible, carrying the platform's own idempotency device derived from
 * `delivery.key` and `delivery.startedAt`, and reports with `certain` whether a failure leaves room for doubt;
 * `reconcile` finds out what an earlier `publish` with the same delivery came to, without making anything visible: `absent` only when the
 * call can no longer take effect, or when a repeat of it would be recognised (docs/adr/0031), `unsettled` as long as it may, `undecidable`
 * when asking again will not help.
 */
export interface PlatformAdapter {
  platform: Platform
  prepare(post: OutgoingPost, account: Credentials, checkpoints: Checkpoints, options: CallOptions): Promise<void>
  publish(
    post: OutgoingPost,
    account: Credentials,
    delivery: DeliveryCheckpoints,
    options: CallOptions,
  ): Promise<Published>
  reconcile(
    post: OutgoingPost,
    account: Credentials,
    delivery: DeliveryCheckpoints,
    options: SearchOptions,
  ): Promise<Published | NotFoundResult>
  /**
   * Takes back what `prepare` left where its owner would come across it on the platform. Asked only for what was never to be
   * visible yet, by the handles saved for it; what is gone already is fine.
   */
  discard?(checkpoints: Pick<Checkpoints, 'get'>, account: Credentials, options: CallOptions): Promise<void>
  /** Deadline of the one visible call, milliseconds, where it may take longer than is usual: a platform may fetch a whole file within it. */
  publishTimeoutMs?(post: OutgoingPost): number
  /** Loads what `prepare` needs, so that the first delivery of a process does not wait for it. */
  warmUp?(): Promise<void>
  profile(account: Credentials, options: CallOptions): Promise<Profile>
  /** What the platform accepts just now, where its servers set limits of their own. Never waits long, and never fails. */
  limits?(options: CallOptions): Promise<PostingRules>
  /** Renews the tokens; the caller guarantees that only one renewal of an account runs at a time. */
  renew?(account: Credentials, options: CallOptions): Promise<Omit<Credentials, 'version'>>
  /** Missing where the platform tells nobody. */
  metrics?: PostMetrics
  /** How many follow the account; null where the platform does not tell. */
  followers?(account: Credentials, options: CallOptions): Promise<number | null>
  /** Ends the session at the platform, where it can. */
  revoke?(account: Credentials, options: CallOptions): Promise<void>
}

export interface PostMetrics {
  /** So many posts of one account are asked for in one call. */
  perCall: number
  /**
   * By the platform's id. `deleted` is what the platform says is gone, known for sure; of an id that is missing nothing was said.
   * The posts have to be those of this very account: what another one published looks deleted to it. So may, for some minutes, a post
   * that is just out.
   * Throws `PlatformError`: `permission` where the connection lacks what is needed to see the counts.
   */
  read(
    platformPostIds: string[],
    account: Credentials,
    options: CallOptions,
  ): Promise<Map<string, PostCounts | 'deleted'>>
}

/** An account that was just proven to be the user's, with secrets of its own. */
export interface AuthorizedAccount {
  credentials: Omit<Credentials, 'version'>
  profile: Profile
}

/** What one visit to a platform's own page brought. */
export interface RedirectResult extends AuthorizedAccount {
  /** Accounts of other platforms that come with this one; null where there is definitely none, so that an earlier one is forgotten. */
  companions?: Partial<Record<Platform, AuthorizedAccount | null>>
}

/** A platform whose accounts connect by credentials typed into our form. */
export interface DirectConnect {
  connect(identifier: string, secret: string, options: CallOptions): Promise<AuthorizedAccount>
}

/**
 * A platform whose accounts connect on a page of its own (OAuth). The caller makes and checks `state`, binds both halves to one
 * browser, and calls `complete` at most once for one `begin`.
 */
export interface RedirectConnect {
  /** The parameter of the callback that names the attempt where the platform knows no `state` (OAuth 1.0a: `oauth_token`). */
  lookupParameter?: string
  begin(
    input: { state: string; redirectUri: string },
    options: CallOptions,
  ): Promise<{
    /** Where the user is sent. */
    url: string
    /** Kept sealed until the callback: PKCE verifier, secret of the request token. */
    secrets: Record<string, string>
    /** What the callback will name under `lookupParameter` (OAuth 1.0a: the request token). */
    lookup?: string
  }>
  /**
   * Exchanges what the callback brought; the parameters of its query are as the platform sent them, each once.
   * Throws `PlatformError`: `permission` when the user or the platform gave less than is needed, without a call where that can be read off the query.
   */
  complete(
    input: { query: Record<string, string>; redirectUri: string; secrets: Record<string, string> },
    options: CallOptions,
  ): Promise<RedirectResult>
}
