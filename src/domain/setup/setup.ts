import { platformLabel, type Platform } from '../shared/platforms.ts'

/**
 * `ready`: the check succeeded. `missing`: users need it, and it is not set up. `failing`: it is set up, and the check failed. `off`: an
 * optional part that the operator has not set up.
 */
export const SETUP_STATES = ['ready', 'missing', 'failing', 'off'] as const
export type SetupState = (typeof SETUP_STATES)[number]

/** One part of the service, for its operator. */
export interface SetupEntry {
  part: SetupPart
  state: SetupState
  /** What the state means for users, a sentence. */
  effect: string
  /** Why the check failed, without secrets; null in all other states. */
  problem: string | null
  /** What to do, a sentence; null when the part is ready. */
  nextStep: string | null
  /** The settings of the part. */
  settings: string[]
}

interface PartTexts {
  settings: string[]
  ready: string
  notReady: string
  /** What to do where changing the settings does not help. */
  nextStep?: string
}

const platform = (name: Platform, ...settings: string[]): PartTexts => ({
  settings,
  ready: `Users can connect ${platformLabel(name)} accounts and publish on them.`,
  notReady: `Users cannot connect ${platformLabel(name)} accounts or publish on them.`,
})

const RUN_SETUP = 'Run "npm run setup".'

const TEXTS = {
  publicUrl: {
    settings: ['PUBLIC_URL'],
    ready: 'Platforms, payment pages and browsers reach the API.',
    notReady: 'Browsers of users and the redirects of platforms do not reach the API safely.',
    nextStep: 'Set PUBLIC_URL to the https address under which users reach the API.',
  },
  frontendUrl: {
    settings: ['FRONTEND_URL', 'CORS_ORIGINS'],
    ready: 'Links in emails and redirects lead to the frontend.',
    notReady: 'Links in emails and redirects after a login or payment do not lead to the frontend.',
    nextStep: 'Set FRONTEND_URL to the https address under which users open the frontend.',
  },
  temporal: {
    settings: ['TEMPORAL_ADDRESS', 'TEMPORAL_NAMESPACE'],
    ready: 'Posts are started on time.',
    notReady: 'Posts are accepted and wait: none is published until Temporal answers.',
  },
  worker: {
    settings: ['WORKER_QUEUES'],
    ready: 'Workers serve every task queue.',
    notReady: 'Work of task queues without a worker waits, such as publishing posts and sending emails.',
    nextStep: 'Start a worker, or check its log and that WORKER_QUEUES of all workers name every task queue.',
  },
  schedules: {
    settings: ['SWEEP_INTERVAL_MS', 'ANALYTICS_INTERVAL_MINUTES'],
    ready: 'Interrupted work is resumed, and metrics are collected.',
    notReady: 'Interrupted posts are not resumed, tokens expire, and no metrics are collected.',
    nextStep: RUN_SETUP,
  },
  encryptionKeys: {
    settings: ['TOKEN_ENCRYPTION_KEYS'],
    ready: 'The logins of all connected accounts can be read.',
    notReady: 'Posts to accounts whose logins cannot be read wait.',
    nextStep: 'Add the missing keys to TOKEN_ENCRYPTION_KEYS of all processes.',
  },
  storage: {
    settings: ['S3_ENDPOINT', 'S3_REGION', 'S3_BUCKET', 'S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'],
    ready: 'Users can upload media and avatars.',
    notReady: 'Users cannot upload media, and posts with media are not published.',
    nextStep: `Check the settings and that the storage runs. If the bucket is missing: ${RUN_SETUP}`,
  },
  publicStorage: {
    settings: ['S3_PUBLIC_URL'],
    ready: 'Platforms and browsers can fetch uploaded media.',
    notReady: 'Browsers do not show uploaded media, and Threads, Instagram and Facebook cannot fetch it.',
    nextStep: `Set S3_PUBLIC_URL to the public https address of the bucket. If its policy is missing: ${RUN_SETUP}`,
  },
  mail: {
    settings: ['SMTP_URL', 'MAIL_FROM'],
    ready: 'Codes for registration and password resets are sent by email.',
    notReady: 'Emails wait: users receive no codes for registration and no password resets.',
  },
  bluesky: platform('bluesky', 'BLUESKY_ENTRY_URL'),
  threads: platform('threads', 'THREADS_APP_ID', 'THREADS_APP_SECRET'),
  instagram: platform('instagram', 'FACEBOOK_APP_ID', 'FACEBOOK_APP_SECRET'),
  facebook: platform('facebook', 'FACEBOOK_APP_ID', 'FACEBOOK_APP_SECRET'),
  mastodon: platform('mastodon', 'MASTODON_INSTANCE_URL', 'MASTODON_CLIENT_ID', 'MASTODON_CLIENT_SECRET'),
  tumblr: platform('tumblr', 'TUMBLR_CONSUMER_KEY', 'TUMBLR_CONSUMER_SECRET'),
  google: {
    settings: ['GOOGLE_CLIENT_ID', 'GOOGLE_CLIENT_SECRET', 'GOOGLE_ISSUER_URL'],
    ready: 'Users can log in with Google.',
    notReady: 'Users cannot log in with Google.',
  },
  captions: {
    settings: ['CAPTIONS_URL', 'CAPTIONS_API_KEY', 'CAPTIONS_MODEL'],
    ready: 'A model writes captions.',
    notReady: 'No model writes captions. While CAPTIONS_URL is empty, users get captions from templates.',
  },
  payments: {
    settings: ['STRIPE_SECRET_KEY', 'STRIPE_PRICE_ID', 'STRIPE_WEBHOOK_SECRETS'],
    ready: 'Users can subscribe to the Pro plan.',
    notReady: 'Users cannot subscribe to the Pro plan.',
  },
  push: {
    settings: ['FCM_PROJECT_ID', 'FCM_CLIENT_EMAIL', 'FCM_PRIVATE_KEY'],
    ready: 'Registered devices receive push messages.',
    notReady: 'Devices receive no push messages.',
  },
} satisfies Record<string, PartTexts>

export type SetupPart = keyof typeof TEXTS
export const SETUP_PARTS = Object.keys(TEXTS) as SetupPart[]

/** Describes a part. A `problem` is set only while it is failing. */
export function describeSetup(part: SetupPart, state: SetupState, problem: string | null = null): SetupEntry {
  const { settings, ready, notReady, nextStep }: PartTexts = TEXTS[part]
  const isReady = state === 'ready'
  return {
    part,
    state,
    effect: isReady ? ready : notReady,
    problem,
    nextStep: isReady ? null : (nextStep ?? toNextStep(state, settings)),
    settings,
  }
}

function toNextStep(state: SetupState, settings: string[]): string {
  const named = new Intl.ListFormat('en').format(settings)
  if (state === 'failing') return `Check ${named}, and that the server behind them runs.`
  return `Set ${named}, and restart the API and the workers.`
}

const LOCAL_HOSTS = /^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\]|0\.0\.0\.0)$/

/** Returns why users of other machines cannot use an address safely; null when they can. */
export function findAddressProblem(address: string): string | null {
  const { protocol, hostname } = new URL(address)
  if (LOCAL_HOSTS.test(hostname)) return 'The address leads each browser to its own machine'
  return protocol === 'https:' ? null : 'The address is not https, so browsers do not send the login cookie safely'
}
