import type { components } from '@postonce/sdk'

type Schemas = components['schemas']

/** Converts a post to the fields that an agent needs. */
export function presentPost(post: Schemas['Post']) {
  const texts = Object.entries(post.platformSpecificContent).flatMap(([platform, override]) =>
    override?.text === undefined ? [] : [[platform, override.text]],
  )
  const further = Object.entries(post.platformSpecificContent)
    .map(([platform, override]) => [platform, presentFurther(override ?? {})] as const)
    .filter(([, others]) => Object.keys(others).length > 0)
  return {
    postId: post._id,
    etag: post.etag,
    status: post.status,
    scheduledAt: post.scheduledAt,
    dueAt: post.dueAt,
    createdAt: post.createdAt,
    client: post.metadata.client,
    text: post.content.text,
    ...presentFurther(post.content),
    ...(texts.length > 0 ? { platformTexts: Object.fromEntries(texts) as Record<string, string> } : {}),
    ...(further.length > 0 ? { platformContents: Object.fromEntries(further) as Record<string, Further> } : {}),
    ...(post.isShortened ? { isShortened: true } : {}),
    ...(post.groups ? { groups: post.groups.map(({ name }) => name) } : {}),
    mediaCount: post.content.mediaItems.length,
    deliveries: post.platformStatuses.map(presentDelivery),
  }
}

type Further = ReturnType<typeof presentFurther>

/** Converts what a content has besides its text and media. */
function presentFurther({ segments, firstComment, onUnsupported, options }: Schemas['OverrideInput']) {
  return {
    ...(segments ? { segments: segments.map(({ text }) => text ?? '') } : {}),
    ...(firstComment === undefined ? {} : { firstComment }),
    ...(onUnsupported === undefined ? {} : { onUnsupported }),
    ...(options === undefined ? {} : { options }),
  }
}

export function presentDelivery(delivery: Schemas['PlatformStatus']) {
  const { platform, accountId, accountName, nextAttemptAt, parts, removal, revisions } = delivery
  const edit = revisions?.at(-1)
  return {
    ...{ platform, accountId, accountName, ...presentOutcome(delivery), nextAttemptAt },
    ...(removal ? { removal: { status: removal.status, error: removal.error } } : {}),
    ...(edit ? { edit: { status: edit.status, text: edit.text, error: edit.error } } : {}),
    ...(parts ? { parts: parts.map((part) => ({ kind: part.kind, ...presentOutcome(part) })) } : {}),
  }
}

function presentOutcome(outcome: Schemas['PlatformStatus'] | Schemas['PostPart']) {
  const { status, platformPostUrl: url, warning, error, errorCode } = outcome
  return { status, url, ...(warning === undefined ? {} : { warning }), error, errorCode }
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
