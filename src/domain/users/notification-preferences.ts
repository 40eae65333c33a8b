import type { Problem } from '../shared/service-error.ts'

/** What a notification is about, in the words of its user's settings. */
export const NOTIFICATION_KINDS = [
  'postCreated',
  'postPublished',
  'postFailed',
  'postWarning',
  'accountLogin',
  'billing',
  'webhook',
  'security',
] as const
export type NotificationKind = (typeof NOTIFICATION_KINDS)[number]

/** Ways in which a notification reaches its user. `list` includes the sockets. */
export const NOTIFICATION_CHANNELS = ['list', 'push', 'mail'] as const
export type NotificationChannel = (typeof NOTIFICATION_CHANNELS)[number]

export type Channels = Record<NotificationChannel, boolean>
/** The channels that a user has switched on or off. The others are as by default. */
export type NotificationPreferences = Partial<Record<NotificationKind, Partial<Channels>>>

/** Kinds that are sent by mail unless their user switches it off: publishing stops until the user acts, or an attacker acted. */
const MAILED_BY_DEFAULT: readonly NotificationKind[] = ['postFailed', 'accountLogin', 'security']

/** Channels that are always on. Whoever steals a session must not be able to hide what it created. */
export const REQUIRED_CHANNELS: Partial<Record<NotificationKind, NotificationChannel[]>> = {
  postFailed: ['list'],
  accountLogin: ['list'],
  security: [...NOTIFICATION_CHANNELS],
}

/** Returns the channels of a kind for a user with these preferences. */
export function resolveChannels(kind: NotificationKind, preferences: NotificationPreferences = {}): Channels {
  return { list: true, push: true, mail: MAILED_BY_DEFAULT.includes(kind), ...preferences[kind] }
}

/** Returns the channels of every kind. */
export function resolveAllChannels(preferences?: NotificationPreferences): Record<NotificationKind, Channels> {
  const resolved = NOTIFICATION_KINDS.map((kind) => [kind, resolveChannels(kind, preferences)])
  return Object.fromEntries(resolved) as Record<NotificationKind, Channels>
}

/** Returns a problem for a change of no kind, and for every required channel that it switches off. */
export function findPreferenceProblems(change: NotificationPreferences): Problem[] {
  if (NOTIFICATION_KINDS.every((kind) => change[kind] === undefined))
    return [{ path: '', code: 'REQUIRED', message: `Name one of these kinds: ${NOTIFICATION_KINDS.join(', ')}.` }]
  return NOTIFICATION_KINDS.flatMap((kind) =>
    (REQUIRED_CHANNELS[kind] ?? [])
      .filter((channel) => change[kind]?.[channel] === false)
      .map((channel) => ({
        path: `${kind}.${channel}`,
        code: 'CHANNEL_REQUIRED',
        message: `The channel “${channel}” of “${kind}” cannot be switched off. Leave it out.`,
      })),
  )
}
