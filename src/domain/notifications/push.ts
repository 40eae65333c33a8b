import type { NotificationType } from './notifications.ts'
import { DAY } from '../shared/times.ts'

/** Where a device gets its messages; how they are shown differs. */
export const PUSH_PLATFORMS = ['ios', 'android', 'web'] as const
export type PushPlatform = (typeof PUSH_PLATFORMS)[number]

/**
 * What became of a notification's push. `none`: its user had no device; `waiting`: no workflow has taken it up; `started`: one
 * has; `sent`: every device that could be reached has it; `failed`: at least one has not, and it is not tried any more.
 */
export const PUSH_STATES = ['none', 'waiting', 'started', 'sent', 'failed'] as const
export type PushState = (typeof PUSH_STATES)[number]

/** News older than this helps nobody: it is not tried any more, and devices that were off for longer do not get it. */
export const PUSH_LIFE_MS = DAY
/** A whole message may have 4,096 bytes. */
const LONGEST_ADDRESS = 1_000

/** A push message as the contract has it (section 9), whatever carries it. */
export interface PushMessage {
  title: string
  body: string
  image?: string
  data: { notificationId: string; type: string; referenceType: string; referenceId: string; link: string }
  /** Devices show one message of this key: one that comes twice takes the place of the first. */
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
  success: 'Done',
  error: 'Something went wrong',
  warning: 'Please have a look',
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
