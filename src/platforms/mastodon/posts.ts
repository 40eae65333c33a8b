import type { Published } from '../../domain/post.ts'
import type { CallOptions, Credentials, DeliveryLog, OutgoingPost, PreparationLog, SearchOptions } from '../adapter.ts'
import { PlatformError } from '../errors.ts'
import { json } from '../shared/calls.ts'
import { assertPostable } from '../shared/postable.ts'
import { readStatus, type Status } from './answers.ts'
import type { Api } from './api.ts'
import { isRefusedAs, isRefusedWith } from '../shared/refusals.ts'
import type { createInstanceLimits } from './instance-limits.ts'
import { forgetUploads, uploadedIds, type createMedia } from './media.ts'
import type { createSearch } from './search.ts'

interface PostDeps {
  api: Api
  media: ReturnType<typeof createMedia>
  search: ReturnType<typeof createSearch>
  limits: ReturnType<typeof createInstanceLimits>
  assertAtHome(account: Credentials): void
  publishTimeoutMs: number
}

/** Set when the server named a post of ours that is not there any more. */
const DELETED = 'deleted'

/** Bringing a post out: everything invisible first, then one call, and the search for what became of it. */
export function createPosts({ api, media, search, limits, assertAtHome, publishTimeoutMs }: PostDeps) {
  async function prepare(post: OutgoingPost, account: Credentials, log: PreparationLog, options: CallOptions) {
    assertAtHome(account)
    const instance = await limits(options)
    assertPostable('mastodon', post.content, instance.rules)
    await media.prepare(post, account, log, instance, options)
    api.warm()
  }

  async function publish(
    post: OutgoingPost,
    account: Credentials,
    delivery: DeliveryLog,
    { signal }: CallOptions,
  ): Promise<Published> {
    assertAtHome(account)
    const status = { status: post.content.text, media_ids: uploadedIds(post, delivery) }
    const call = { token: account.accessToken, signal, timeoutMs: publishTimeoutMs }
    try {
      const { body } = await api.post(
        '/api/v1/statuses',
        json(status, { 'idempotency-key': delivery.key }),
        readStatus,
        call,
      )
      return published(body, account)
    } catch (error) {
      if (isRefusedAs(error, 'media-missing')) await forgetUploads(post, delivery)
      if (!isRefusedWith(error, 404)) throw error
      // So it answers a repeat whose first status was deleted meanwhile (platforms.md 6e): what was published once stays so.
      await delivery.save(DELETED, 'true')
      throw new PlatformError('duplicate', 'The post was published on Mastodon and deleted there', {
        certain: false,
        cause: error,
      })
    }
  }

  async function reconcile(
    post: OutgoingPost,
    account: Credentials,
    delivery: DeliveryLog,
    options: SearchOptions,
  ): Promise<Published | 'absent' | 'undecidable'> {
    assertAtHome(account)
    if (delivery.handle(DELETED)) return 'undecidable'
    const found = await search(post, account, delivery, options)
    return typeof found === 'string' ? found : published(found, account)
  }

  function published({ id, url }: Status, { handle }: Credentials): Published {
    const ofUser = `${api.base}/@${handle.split('@')[0]}/${id}`
    return { platformPostId: id, platformPostUrl: /^https?:\/\//.test(url ?? '') ? url! : ofUser }
  }

  return { prepare, publish, reconcile, warmUp: media.warmUp }
}
