import type { components } from '@postonce/sdk'

type Schemas = components['schemas']

/** Converts a post to the fields that an agent needs. */
export function presentPost(post: Schemas['Post']) {
  const texts = Object.entries(post.platformSpecificContent).flatMap(([platform, override]) =>
    override?.text === undefined ? [] : [[platform, override.text]],
  )
  return {
    postId: post._id,
    etag: post.etag,
    status: post.status,
    scheduledAt: post.scheduledAt,
    dueAt: post.dueAt,
    createdAt: post.createdAt,
    client: post.metadata.client,
    text: post.content.text,
    ...(texts.length > 0 ? { platformTexts: Object.fromEntries(texts) as Record<string, string> } : {}),
    ...(post.isShortened ? { isShortened: true } : {}),
    ...(post.groups ? { groups: post.groups.map(({ name }) => name) } : {}),
    mediaCount: post.content.mediaItems.length,
    deliveries: post.platformStatuses.map(presentDelivery),
  }
}

export function presentDelivery(delivery: Schemas['PlatformStatus']) {
  const { platform, accountId, accountName, status, platformPostUrl: url, warning } = delivery
  const { error, errorCode, nextAttemptAt } = delivery
  return {
    ...{ platform, accountId, accountName, status, url, ...(warning !== undefined && { warning }) },
    ...{ error, errorCode, nextAttemptAt },
  }
}

export function presentAccount({ _id, platform, server, profile, health, isDefault, label }: Schemas['Account']) {
  const { displayName, handle } = profile
  const { status, needsReconnection, lastError } = health
  return {
    accountId: _id,
    platform,
    server,
    handle,
    displayName,
    label,
    isDefault,
    health: { status, needsReconnection, lastError },
  }
}

export function presentGroup({ id: groupId, name, accountIds }: Schemas['Group']) {
  return { groupId, name, accountIds }
}
