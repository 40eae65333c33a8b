import type { OfferedId } from '../domain/accounts/platform-connect.ts'
import type { PostCounts } from '../domain/analytics/analytics.ts'
import type { PlatformOptions } from '../domain/posts/options.ts'
import type { Part } from '../domain/posts/parts.ts'
import type { LinkChoice, MediaItem, Published } from '../domain/posts/post.ts'
import type { Platform } from '../domain/shared/platforms.ts'
import type { QuotaSubject } from '../domain/quotas/limits.ts'
import type { PublicationReport } from '../domain/quotas/publications.ts'
import type { PostingRules } from '../domain/posts/posting-rules.ts'

/** One part of a post on one platform, with overrides applied. */
export interface OutgoingPost {
  postId: string
  kind: Part['kind']
  content: Part['content']
  options: PlatformOptions
  /** Absent: `auto`. */
  link?: LinkChoice
  /** The published parts that this one continues: the first, and the one before; absent for the first part. */
  replyTo?: { rootId: string; parentId: string }
}

/** A connected account with decrypted secrets. It lives in memory only, for one attempt. */
export interface Credentials {
  /** The user here; absent while an account connects. */
  userId?: string
  /** The account's id on the platform; the DID on Bluesky. */
  accountId: string
  handle: string
  /** Base URL of the account's server, on platforms with one server per account. */
  serviceUrl?: string
  accessToken: string
  /** The second half of the signing key of OAuth 1.0a. */
  tokenSecret?: string
  refreshToken?: string
  /** When the access token expires. */
  expiresAt?: Date
  /**
   * When the connection expires unless it is renewed; on Bluesky the expiry of the refresh token. Absent: it never
   * expires.
   */
  endsAt?: Date
  /** Grows with every stored change of the secrets. Saving tokens or health requires the same version. */
  version: number
}

export interface Profile {
  displayName: string
  handle: string
  /** Absolute http(s) URL, or `null`. */
  avatar: string | null
  description?: string
}

/**
 * The state that one delivery keeps between attempts: ids of prepared objects, by name.
 * `key` and `dueAt` are fixed before the first visible call and are the same for all repeats. Both derive from the post alone, so that a
 * delivery that was restored from a backup repeats an earlier call, too.
 * `save` is durable when it returns. It throws when the post, its content or the account has changed, and `CheckpointUnknown` when it is not
 * known whether the value was stored.
 */
export interface DeliveryCheckpoints {
  key: string
  /** The time of the post, also where it is published later. */
  dueAt: Date
  /** The earliest time at which the post may have been published. */
  startedAt: Date
  /** True when an earlier call with this key may have been accepted. */
  isRepeat: boolean
  get(name: string): string | undefined
  save(name: string, value: string): Promise<void>
}

/** The part for `prepare`, which runs before the claim and therefore has neither key nor times. */
export type Checkpoints = Pick<DeliveryCheckpoints, 'get' | 'save'>

/** A post's media in object storage. */
export interface MediaSource {
  /**
   * Streams the bytes of a media item. The stream must be read or cancelled. The type is that of the bytes; the size in pixels is absent
   * where the file does not state it.
   * @throws MediaUnavailableError when the file is missing, empty, too large, of another kind than declared, or cannot be shown
   */
  open(
    item: MediaItem,
    options: CallOptions,
  ): Promise<{
    stream: ReadableStream<Uint8Array>
    sizeBytes: number
    mimeType: string
    width?: number
    height?: number
  }>
  /** Returns the public URL of a media item, for platforms that fetch files. Checks and throws as `open` does. */
  publicUrl(item: MediaItem, options: CallOptions): Promise<string>
  /**
   * Stores a converted media item and returns its public URL. Equal bytes get an equal URL.
   * A copy is stored for at least 12 hours; callers that need it longer store it again.
   */
  storeCopy(
    item: MediaItem,
    copy: { bytes: Uint8Array; mimeType: 'image/jpeg' | 'image/png' },
    options: CallOptions,
  ): Promise<string>
}

/** Describes a page in a card. The texts are cleaned and cut; `null` where the page has none. */
export interface PageDescription {
  /** The address after redirects. */
  url: string
  title: string
  description: string | null
  /** The address of the preview image. */
  imageUrl: string | null
}

/** Reads pages of the public web for cards. Both functions throw `PageUnavailableError`, and the reason of the signal. */
export interface PageSource {
  /** Returns within seconds, whatever the server does. Pages of one user are read in turns. */
  describe(url: string, options: CallOptions & { userId: string }): Promise<PageDescription>
  /** Returns the bytes of an image whose type this service can convert. */
  readImage(url: string, options: CallOptions & { userId: string }): Promise<Uint8Array>
}

/**
 * Facts about a server that adapters need after a restart. All processes share them; they hold no secrets and no user
 * data.
 */
export interface PlatformFacts {
  find(name: string): Promise<string | null>
  save(name: string, value: string): Promise<void>
}

/** This service as an OAuth application on one server. */
export interface ServerApplication {
  clientId: string
  clientSecret: string
  /** The redirect URI that it was registered with. */
  redirectUri: string
}

/**
 * The registrations of this service on servers that users named, by a name with platform and server. All processes share
 * them; they are stored encrypted.
 */
export interface ServerApplications {
  find(name: string): Promise<ServerApplication | null>
  /** Stores a registration unless another process stored one first, and returns the stored one. */
  add(name: string, application: ServerApplication): Promise<ServerApplication>
  /** Removes a registration, unless it was replaced meanwhile. */
  remove(name: string, clientId: string): Promise<void>
}

export interface CallOptions {
  /** Aborts the call at the attempt's deadline or when the worker shuts down. */
  signal: AbortSignal
}

/** The result of `reconcile` when the post was not found; see `PlatformAdapter`. */
export type NotFoundResult = 'absent' | 'undecidable' | 'in-flight'

/** Input of the search for a post that an earlier call may have published. */
export interface SearchOptions extends CallOptions {
  /** When the latest visible call began. After a timeout, the platform may still be processing it. */
  calledAt: Date
  /** True when that call got a response, so no server is still processing it (`PlatformError.answered`). */
  wasAnswered: boolean
  /**
   * True when the delivery was restored from a backup: that call is not known, and neither is what it prepared. The account is searched for
   * the content (ADR "A restored delivery begins in doubt").
   */
  isRestored: boolean
  /** Returns whether the platform post already belongs to another post of this service and is no candidate. */
  isTaken(platformPostId: string): Promise<boolean>
}

/**
 * The interface of a platform. Adapters receive URLs and timeouts when they are created and read no configuration.
 * Every method throws only `PlatformError` on platform failures. `media_not_ready` from `prepare` means that the
 * platform is processing media it has; `prepare` is repeated until it is done. Media that the platform lost and that
 * must be sent again is `transient`.
 *
 * Exactly-once delivery rests on three rules (docs/design/exactly-once.md):
 * - `prepare` does nothing that the public can see. It may be repeated or discarded at any time.
 * - `publish` makes exactly one call that can make the post visible. The call carries the platform's idempotency
 * device, derived from `delivery.key` and `delivery.dueAt`. Its error says with `certain` whether the outcome is
 * known.
 * - `reconcile` finds the outcome of an earlier `publish` of the same delivery and makes nothing visible. `absent`: the
 * call can no longer take effect, or a repeat would be recognised (ADR "When absent is trusted, and
 * whose response counts"). `in-flight`: the call may still take effect. `undecidable`: repeating the search does not help.
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
   * Removes what `prepare` left visible to the account's owner, such as a draft. Called only for posts that were never
   * to be visible yet. Succeeds when the object is already gone.
   */
  discard?(checkpoints: Pick<Checkpoints, 'get'>, account: Credentials, options: CallOptions): Promise<void>
  /**
   * Removes a published post, reply or comment of the account. Succeeds when it is already gone, so it can be repeated. Absent on platforms
   * that let no program do it.
   */
  remove?(platformPostId: string, account: Credentials, options: CallOptions): Promise<void>
  /**
   * Reads a published post, and returns the one call that gives it the text of `post`; null when it has that text already. Its media and
   * options stay. The error of the call says with `certain` and `answered` whether it may still take effect. Absent on platforms that let no
   * program edit posts.
   * @throws PlatformError `not_found` when the post is gone
   */
  planEdit?(
    platformPostId: string,
    post: OutgoingPost,
    account: Credentials,
    options: CallOptions,
  ): Promise<(() => Promise<void>) | null>
  /**
   * Deadline of the visible call in milliseconds, if it differs from the default: some platforms fetch a whole file
   * within it.
   */
  publishTimeoutMs?(post: OutgoingPost): number
  /** Loads the modules that `prepare` needs, so that the first delivery of a process does not wait for them. */
  warmUp?(): Promise<void>
  profile(account: Credentials, options: CallOptions): Promise<Profile>
  /**
   * Returns the current limits of a platform whose servers set their own. Returns quickly and never fails.
   * @param options.server the `serviceUrl` of an account; absent: the configured server
   */
  limits?(options: CallOptions & { server?: string }): Promise<PostingRules>
  /** Renews the tokens. The caller runs at most one renewal per account at a time. */
  renew?(account: Credentials, options: CallOptions): Promise<Omit<Credentials, 'version'>>
  /** Returns the quota of an account's publications, under which its deliveries take turns; null where no limit is known. */
  publicationQuota?(account: Pick<Credentials, 'accountId' | 'serviceUrl'>): QuotaSubject | null
  /** Reads from the platform what is left of that quota. */
  readPublicationQuota?(account: Credentials, options: CallOptions): Promise<PublicationReport[]>
  /** Absent on platforms without public counts. */
  metrics?: PostMetrics
  /** The number of followers; `null` when the platform does not report it. */
  followers?(account: Credentials, options: CallOptions): Promise<number | null>
  /** Ends the session at the platform, if it supports that. */
  revoke?(account: Credentials, options: CallOptions): Promise<void>
}

export interface PostMetrics {
  /** The maximum number of posts of one account per call. */
  perCall: number
  /**
   * Returns counts by platform post id. `deleted` is certain; a missing id means that the platform reported nothing.
   * The ids must belong to this account: posts of other accounts appear deleted, and so may new posts for some minutes.
   * @throws PlatformError `permission` when the connection lacks the permission to read counts
   */
  read(
    platformPostIds: string[],
    account: Credentials,
    options: CallOptions,
  ): Promise<Map<string, PostCounts | 'deleted'>>
}

/** An account whose owner has just authorized this service. */
export interface AuthorizedAccount {
  credentials: Omit<Credentials, 'version'>
  profile: Profile
  /** Why nothing can be published on it for now, a sentence for users; null or absent when it can. */
  problem?: string | null
}

/** An account that a login offers. Its secrets are for `open`. */
export interface OfferedAccount {
  accountId: string
  profile: Profile
  /** Why it cannot be connected, a sentence for users; null when it can. */
  problem: string | null
  secrets: Record<string, string>
}

/** An account that a user has authorized on a platform's page. */
export interface RedirectResult extends AuthorizedAccount {
  /** Accounts of other platforms that come with this one. `null` removes an earlier one, an absent one stays. */
  companions?: Partial<Record<Platform, AuthorizedAccount | null>>
}

/** The result of one authorization on a platform's page. */
export interface CompletedLogin extends RedirectResult {
  /** All accounts of the login, also those that the user may not post on; absent on platforms where a login is for one. */
  offered?: OfferedAccount[]
}

/** A platform whose accounts connect with credentials that the user types in. */
export interface DirectConnect {
  connect(identifier: string, secret: string, options: CallOptions): Promise<AuthorizedAccount>
}

/**
 * A platform whose accounts connect on the platform's own page (OAuth). The caller creates and checks `state`, binds
 * both halves to one browser, and calls `complete` at most once per `begin`.
 */
export interface RedirectConnect {
  /**
   * The callback parameter that identifies the authorization on platforms without `state` (OAuth 1.0a: `oauth_token`).
   */
  lookupParameter?: string
  /**
   * @param input.server the server that the user typed, on platforms with many; absent: the configured server
   * @throws ServerNotAllowedError when that is not a public server, or not allowed here
   */
  begin(
    input: { state: string; redirectUri: string; server?: string },
    options: CallOptions,
  ): Promise<{
    /** The URL to redirect the user to. */
    url: string
    /** Stored encrypted until the callback: the PKCE verifier or the secret of the request token. */
    secrets: Record<string, string>
    /** The value of `lookupParameter` in the callback (OAuth 1.0a: the request token). */
    lookup?: string
  }>
  /**
   * Exchanges the parameters of the callback for an account. `query` holds each parameter once, as the platform sent
   * it. `choose` chooses the account where a login offers several (`chooseOffered`).
   * @throws PlatformError `permission` when the user or the platform granted too little, without a call if the query
   * already says so
   */
  complete(
    input: {
      query: Record<string, string>
      redirectUri: string
      secrets: Record<string, string>
      choose(offered: readonly OfferedId[]): string | null
    },
    options: CallOptions,
  ): Promise<CompletedLogin>
  /** Returns another account that the login has offered. Present where `complete` offers any. */
  open?(secrets: Record<string, string>, options: CallOptions): Promise<RedirectResult>
}
