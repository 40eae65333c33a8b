import type { NotificationType } from './notifications.ts'
import { DAY } from '../shared/times.ts'

/** Kinds of devices, which display messages differently. */
export const PUSH_PLATFORMS = ['ios', 'android', 'web'] as const
export type PushPlatform = (typeof PUSH_PLATFORMS)[number]

/**
 * Push state of a notification. `none`: the user has no device; `waiting`: no workflow has started; `started`: one has;
 * `sent`: all reachable devices received it; `failed`: at least one did not, and it is not retried.
 */
export const PUSH_STATES = ['none', 'waiting', 'started', 'sent', 'failed'] as const
export type PushState = (typeof PUSH_STATES)[number]

/** Lifetime of a push message. Older ones are not retried, and devices that were offline for longer do not receive them. */
export const PUSH_LIFE_MS = DAY
/** Maximal length of a URL in a message, which may have 4,096 bytes in total. */
const LONGEST_ADDRESS = 1_000

/** A push message, independent of the provider. */
export interface PushMessage {
  title: string
  body: string
  image?: string
  data: { notificationId: string; type: string; referenceType: string; referenceId: string; link: string }
  /** Devices show one message per key: a duplicate replaces the first. */
  collapseKey: string
  expiresAt: Date
}

interface PushSource {
  _id: string
  message: string
  type: NotificationType
  reference: { type: string; id: string }
  options: { image?: string; link?: string }
  createdAt: Date
}

const TITLES: Record<NotificationType, string> = {
  // A post that was just scheduled is not done.
  success: 'Update',
  error: 'Something went wrong',
  warning: 'Action needed',
  info: 'For your information',
}

export function toPushMessage({ _id, message, type, reference, options, createdAt }: PushSource): PushMessage {
  const { image, link } = options
  return {
    title: TITLES[type],
    body: message,
    ...(isShort(image) && { image }),
    data: {
      notificationId: _id,
      type,
      referenceType: reference.type,
      referenceId: reference.id,
      link: isShort(link) ? link : '',
    },
    collapseKey: _id,
    expiresAt: new Date(createdAt.getTime() + PUSH_LIFE_MS),
  }
}

function isShort(address: string | undefined): address is string {
  return address !== undefined && address.length <= LONGEST_ADDRESS
}
