import { followEvents, iterateEvents, listEvents, type EventSelection } from './events.ts'
import type { components, paths } from './generated/schema.ts'
import { iterateImportRows, planImport, waitUntilApplied, type ImportWaitOptions, type PlanOptions } from './imports.ts'
import type { CallArguments, CallOptions, Data, Method, Operation, PathWith } from './operations.ts'
import { iteratePages } from './pages.ts'
import { createTransport, type TransportOptions, type TransportRequest } from './transport.ts'
import { putFile, type MediaItem, type UploadOptions } from './uploads.ts'
import { waitUntilPublished, type WaitOptions } from './wait.ts'

export type ClientOptions = TransportOptions
type Schemas = components['schemas']
type Query<P extends PathWith<'GET'>> =
  NonNullable<paths[P]['get']> extends { parameters: { query?: infer Q } } ? Q : never
type Filters<P extends PathWith<'GET'>> = Omit<NonNullable<Query<P>>, 'page'>

/** The reads of analytics, by their path. */
type Figures = 'overview' | 'timeline' | 'growth' | 'posts/top' | 'platforms' | 'heatmap'

export interface ConnectOptions extends CallOptions {
  /** False adds an account. By default it takes the place of the default account of its platform. */
  replace?: boolean | undefined
}

/** A client of the postonce API. */
export type Client = ReturnType<typeof createClient>

/**
 * Creates a client of the API. It makes no request by itself.
 * @throws TypeError without exactly one of `apiKey` and `session`, and for a `url` without a scheme
 */
export function createClient(options: ClientOptions) {
  const transport = createTransport(options)

  async function request<M extends Method, P extends PathWith<M>>(
    method: M,
    path: P,
    ...[call]: object extends CallArguments<Operation<M, P>>
      ? [call?: CallArguments<Operation<M, P>>]
      : [call: CallArguments<Operation<M, P>>]
  ): Promise<Data<Operation<M, P>>> {
    const { path: pathParameters, ...rest } = (call ?? {}) as {
      path?: Record<string, string>
    } & Pick<TransportRequest, 'query' | 'body' | 'signal' | 'idempotencyKey' | 'ifMatch'>
    const body = await transport.sendForJson<{ data?: unknown }>({ method, path, pathParameters, ...rest })
    return (body.data ?? body) as Data<Operation<M, P>>
  }

  return {
    /** Calls any operation of the API by its method and path. Path, query, body and result are typed by the document. */
    request,

    posts: {
      /**
       * Publishes immediately, schedules with `scheduledAt`, or saves a draft with `status: 'DRAFT'`.
       * @throws ApiError also for a `scheduledAt` in the past
       */
      create: (body: Schemas['CreatePost'], call: CallOptions = {}) =>
        request('POST', '/api/posts', { query: { past: 'refuse' }, body, ...call }),
      /** Returns the problems that `create` would report, without creating a post. */
      validate: (body: Schemas['CreatePost'], call: CallOptions = {}) =>
        request('POST', '/api/posts/validate', { query: { past: 'refuse' }, body, ...call }),
      /** Returns a page. */
      list: (query: Query<'/api/posts'> = {}, call: CallOptions = {}) =>
        request('GET', '/api/posts', { query, ...call }),
      /** Yields the posts of all pages, newest first by default. */
      iterate: (filters: Filters<'/api/posts'> = {}, call: CallOptions = {}) =>
        iteratePages(
          async (page) => {
            const { posts: items, totalPages } = await request('GET', '/api/posts', {
              query: { ...filters, page },
              ...call,
            })
            return { items, totalPages }
          },
          ({ _id }) => _id,
        ),
      /** Returns the posts of a range in a short form, at most 1,000. */
      calendar: (query: Query<'/api/posts/calendar'>, call: CallOptions = {}) =>
        request('GET', '/api/posts/calendar', { query, ...call }),
      /** Returns the number of posts by status for every day of a range. */
      counts: (query: Query<'/api/posts/counts'>, call: CallOptions = {}) =>
        request('GET', '/api/posts/counts', { query, ...call }),
      get: async (postId: string, call: CallOptions = {}) =>
        (await request('GET', '/api/posts/{postId}', { path: { postId }, ...call })).post,
      update: (postId: string, body: Schemas['UpdatePost'], call: CallOptions = {}) =>
        request('PATCH', '/api/posts/{postId}', { path: { postId }, body, ...call }),
      /** Cancels a post that was not sent yet, or only its waiting deliveries to some accounts. */
      cancel: (postId: string, body: Schemas['CancelPost'] = {}, call: CallOptions = {}) =>
        request('POST', '/api/posts/{postId}/cancel', { path: { postId }, body, ...call }),
      /** Sends a post again to the platforms that failed. */
      retry: (postId: string, body: Schemas['RetryPost'] = {}, call: CallOptions = {}) =>
        request('POST', '/api/posts/{postId}/retry', { path: { postId }, body, ...call }),
      /** Removes the published post from its platforms, or only from some accounts. `removal` of each entry says how far it is. */
      takeBack: (postId: string, query: { accounts?: string[] } = {}, call: CallOptions = {}) =>
        request('DELETE', '/api/posts/{postId}/published', { path: { postId }, query, ...call }),
      /** Replaces the text of the published post, also only on some accounts. `revisions` of each entry says how far it is. */
      editPublished: (postId: string, body: Schemas['EditPublished'], call: CallOptions = {}) =>
        request('PATCH', '/api/posts/{postId}/published', { path: { postId }, body, ...call }),
      /** Deletes the post here; what is published stays. */
      delete: (postId: string, call: CallOptions = {}) =>
        request('DELETE', '/api/posts/{postId}', { path: { postId }, ...call }),
      /** Makes a draft with the content and the accounts of a post. */
      duplicate: (postId: string, call: CallOptions = {}) =>
        request('POST', '/api/posts/{postId}/duplicate', { path: { postId }, ...call }),
      status: (postId: string, call: CallOptions = {}) =>
        request('GET', '/api/posts/{postId}/status', { path: { postId }, ...call }),
      timeline: (postId: string, call: CallOptions = {}) =>
        request('GET', '/api/posts/{postId}/timeline', { path: { postId }, ...call }),
      /** Downloads posts as a file that `imports.plan` takes: JSON, or CSV with `format: 'csv'`. */
      export: (query: Query<'/api/exports/posts'> = {}, call: CallOptions = {}): Promise<Blob> =>
        transport.send({ method: 'GET', path: '/api/exports/posts', query, ...call }, (response) => response.blob()),
      /** Waits until the post has a final status. */
      waitUntilPublished: (postId: string, wait: WaitOptions = {}) => waitUntilPublished(transport, postId, wait),
    },

    media: {
      /**
       * Uploads a picture or video, and returns the media item for a post.
       * @throws UploadError when the storage refuses the file
       */
      async upload(file: Blob, upload: UploadOptions = {}): Promise<MediaItem> {
        const {
          contentType = file.type,
          altText,
          filename = file instanceof File ? file.name : undefined,
          signal,
        } = upload
        const target = await request('POST', '/api/posts/media/upload', {
          body: { contentType, sizeBytes: file.size },
          signal,
        })
        const { maxRetries = 3, fetch: send = fetch } = options
        await putFile(target, file, upload, { send, maxRetries })
        return {
          storageKey: target.storageKey,
          mimeType: target.contentType,
          sizeBytes: file.size,
          ...(filename ? { originalFilename: filename } : {}),
          ...(altText === undefined ? {} : { altText }),
        }
      },
      /** Returns a page of the uploads, newest first. */
      list: (query: Query<'/api/posts/media'> = {}, call: CallOptions = {}) =>
        request('GET', '/api/posts/media', { query, ...call }),
      /** Yields the uploads of all pages, newest first. */
      iterate: (filters: Filters<'/api/posts/media'> = {}, call: CallOptions = {}) =>
        iteratePages(
          async (page) => {
            const { media: items, totalPages } = await request('GET', '/api/posts/media', {
              query: { ...filters, page },
              ...call,
            })
            return { items, totalPages }
          },
          ({ id }) => id,
        ),
      get: (mediaId: string, call: CallOptions = {}) =>
        request('GET', '/api/posts/media/{mediaId}', { path: { mediaId }, ...call }),
      /** @throws ApiError `MEDIA_IN_USE` while a post needs the file */
      delete: (mediaId: string, call: CallOptions = {}) =>
        request('DELETE', '/api/posts/media/{mediaId}', { path: { mediaId }, ...call }),
    },

    accounts: {
      list: (call: CallOptions = {}) => request('GET', '/api/platform/accounts', call),
      limits: (query: Query<'/api/platform/limits'> = {}, call: CallOptions = {}) =>
        request('GET', '/api/platform/limits', { query, ...call }),
      /** Connects an account with an app password. */
      connectBluesky: (body: Schemas['ConnectBluesky'], { replace = true, ...call }: ConnectOptions = {}) =>
        request('POST', '/api/platform/bluesky/connect', { query: replace ? {} : { replace: 'false' }, body, ...call }),
      /** Makes an account the default of its platform, or gives it a label. */
      update: (accountId: string, body: Schemas['AccountChange'], call: CallOptions = {}) =>
        request('PATCH', '/api/platform/accounts/{accountId}', { path: { accountId }, body, ...call }),
      /** Checks the connection of an account and reads its profile again. */
      refresh: (accountId: string, call: CallOptions = {}) =>
        request('POST', '/api/platform/accounts/{accountId}/refresh', { path: { accountId }, ...call }),
      /** Returns the posts that still wait for the account. With `movePostsTo`, another account gets them first. */
      disconnect: (accountId: string, query: { movePostsTo?: string } = {}, call: CallOptions = {}) =>
        request('DELETE', '/api/platform/accounts/{accountId}', { path: { accountId }, query, ...call }),
    },

    groups: {
      /** Returns the groups of accounts by name. */
      list: (call: CallOptions = {}) => request('GET', '/api/groups', call),
      create: (body: Schemas['CreateGroup'], call: CallOptions = {}) =>
        request('POST', '/api/groups', { body, ...call }),
      get: (id: string, call: CallOptions = {}) => request('GET', '/api/groups/{id}', { path: { id }, ...call }),
      /** Changes the given fields. Stored posts keep their accounts. */
      update: (id: string, body: Schemas['UpdateGroup'], call: CallOptions = {}) =>
        request('PATCH', '/api/groups/{id}', { path: { id }, body, ...call }),
      /** Deletes the group; its accounts stay connected. */
      delete: (id: string, call: CallOptions = {}) => request('DELETE', '/api/groups/{id}', { path: { id }, ...call }),
    },

    slots: {
      /** Returns the weekly times of accounts and groups. */
      get: (call: CallOptions = {}) => request('GET', '/api/slots', call),
      /** Replaces all of them. */
      replace: (body: Schemas['ReplaceSlots'], call: CallOptions = {}) =>
        request('PUT', '/api/slots', { body, ...call }),
      /** Returns the slots of a range, each with the post that takes it. */
      upcoming: (query: Query<'/api/slots/upcoming'>, call: CallOptions = {}) =>
        request('GET', '/api/slots/upcoming', { query, ...call }),
    },

    analytics: {
      overview: (query: Query<'/api/analytics/overview'> = {}, call: CallOptions = {}) =>
        request('GET', '/api/analytics/overview', { query, ...call }),
      /** Returns the totals of each day. */
      timeline: (query: Query<'/api/analytics/timeline'> = {}, call: CallOptions = {}) =>
        request('GET', '/api/analytics/timeline', { query, ...call }),
      /** Returns the followers of each day. */
      growth: (query: Query<'/api/analytics/growth'> = {}, call: CallOptions = {}) =>
        request('GET', '/api/analytics/growth', { query, ...call }),
      topPosts: (query: Query<'/api/analytics/posts/top'> = {}, call: CallOptions = {}) =>
        request('GET', '/api/analytics/posts/top', { query, ...call }),
      /** Returns the totals of each platform. */
      platforms: (query: Query<'/api/analytics/platforms'> = {}, call: CallOptions = {}) =>
        request('GET', '/api/analytics/platforms', { query, ...call }),
      /** Returns the mean engagement by weekday and hour. */
      heatmap: (query: Query<'/api/analytics/heatmap'> = {}, call: CallOptions = {}) =>
        request('GET', '/api/analytics/heatmap', { query, ...call }),
      /** Downloads the figures of any of these reads as CSV. */
      download: <F extends Figures>(
        figures: F,
        query: Query<`/api/analytics/${F}`> = {} as never,
        call: CallOptions = {},
      ): Promise<Blob> =>
        transport.send(
          { method: 'GET', path: `/api/analytics/${figures}`, query: { ...(query as object), format: 'csv' }, ...call },
          (response) => response.blob(),
        ),
    },

    events: {
      /** Returns a page of the feed. */
      list: (selection: EventSelection & { limit?: number } = {}) => listEvents(transport, selection),
      /** Yields the stored events after `after`, oldest first. */
      iterate: (selection: EventSelection = {}) => iterateEvents(transport, selection),
      /** Yields events as they happen, after `after` or from now on. It reconnects and continues without a gap. */
      follow: (selection: EventSelection = {}) => followEvents(transport, selection),
    },

    webhooks: {
      /** Only this response and `rotateSecret` contain the secret. */
      create: (body: Schemas['CreateWebhook'], call: CallOptions = {}) =>
        request('POST', '/api/webhooks', { body, ...call }),
      list: (call: CallOptions = {}) => request('GET', '/api/webhooks', call),
      get: (id: string, call: CallOptions = {}) => request('GET', '/api/webhooks/{id}', { path: { id }, ...call }),
      update: (id: string, body: Schemas['UpdateWebhook'], call: CallOptions = {}) =>
        request('PATCH', '/api/webhooks/{id}', { path: { id }, body, ...call }),
      delete: (id: string, call: CallOptions = {}) =>
        request('DELETE', '/api/webhooks/{id}', { path: { id }, ...call }),
      /** The old secret stays valid for 24 hours. */
      rotateSecret: (id: string, call: CallOptions = {}) =>
        request('POST', '/api/webhooks/{id}/rotate-secret', { path: { id }, ...call }),
      /** Sends a test event. */
      test: (id: string, call: CallOptions = {}) =>
        request('POST', '/api/webhooks/{id}/test', { path: { id }, ...call }),
      /** Sends the events since an instant once more, in their order. */
      redeliverSince: (id: string, since: string, call: CallOptions = {}) =>
        request('POST', '/api/webhooks/{id}/redeliver', { path: { id }, body: { since }, ...call }),
      redeliver: (id: string, deliveryId: string, call: CallOptions = {}) =>
        request('POST', '/api/webhooks/{id}/deliveries/{deliveryId}/redeliver', { path: { id, deliveryId }, ...call }),
      /** Yields the log of deliveries, newest first. */
      iterateDeliveries: (id: string, filters: Filters<'/api/webhooks/{id}/deliveries'> = {}, call: CallOptions = {}) =>
        iteratePages(
          async (page) => {
            const list = await request('GET', '/api/webhooks/{id}/deliveries', {
              path: { id },
              query: { ...filters, page },
              ...call,
            })
            return { items: list.deliveries, totalPages: list.totalPages }
          },
          (delivery) => delivery.id,
        ),
    },

    imports: {
      /** Uploads a file with posts, and returns the plan. Nothing is created before `apply`. */
      plan: (file: Blob | string, plan: PlanOptions) => planImport(transport, file, plan),
      list: (call: CallOptions = {}) => request('GET', '/api/imports', call),
      get: (importId: string, call: CallOptions = {}) =>
        request('GET', '/api/imports/{importId}', { path: { importId }, ...call }),
      /** Yields the rows of an import. */
      iterateRows: (
        importId: string,
        filters: { status?: Schemas['ImportRowStatus'][] } = {},
        call: CallOptions = {},
      ) => iterateImportRows(transport, importId, filters, call),
      /** Creates the posts in the background. A repeated call changes nothing. */
      apply: (importId: string, body: Schemas['ApplyImport'] = {}, call: CallOptions = {}) =>
        request('POST', '/api/imports/{importId}/apply', { path: { importId }, body, ...call }),
      pause: (importId: string, call: CallOptions = {}) =>
        request('POST', '/api/imports/{importId}/pause', { path: { importId }, ...call }),
      resume: (importId: string, call: CallOptions = {}) =>
        request('POST', '/api/imports/{importId}/resume', { path: { importId }, ...call }),
      cancel: (importId: string, call: CallOptions = {}) =>
        request('POST', '/api/imports/{importId}/cancel', { path: { importId }, ...call }),
      delete: (importId: string, call: CallOptions = {}) =>
        request('DELETE', '/api/imports/{importId}', { path: { importId }, ...call }),
      /** Waits until an import is completed, cancelled or paused. */
      waitUntilApplied: (importId: string, wait: ImportWaitOptions = {}) => waitUntilApplied(transport, importId, wait),
    },

    notifications: {
      /** Yields the notifications of all pages, newest first. */
      iterate: (filters: Filters<'/api/notifications'> = {}, call: CallOptions = {}) =>
        iteratePages(
          async (page) => {
            const list = await request('GET', '/api/notifications', { query: { ...filters, page }, ...call })
            return { items: list.notifications, totalPages: Math.ceil(list.total / list.limit) }
          },
          ({ _id }) => _id,
        ),
      /** Marks a notification as read; `grouped` also the others of the same post. */
      markRead: (id: string, query: { grouped?: boolean } = {}, call: CallOptions = {}) =>
        request('PATCH', '/api/notifications/{id}/read', { path: { id }, query, ...call }),
      markAllRead: (call: CallOptions = {}) => request('PATCH', '/api/notifications/read-all', call),
      /** Which kinds of notifications go where. */
      preferences: (call: CallOptions = {}) => request('GET', '/api/notifications/preferences', call),
      /** Switches channels on or off. Those that are left out stay as they are. */
      setPreferences: (body: Schemas['ChangeNotificationPreferences'], call: CallOptions = {}) =>
        request('PATCH', '/api/notifications/preferences', { body, ...call }),
    },
  }
}
