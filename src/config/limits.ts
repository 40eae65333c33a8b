import { HOUR, MINUTE, SECOND } from '../domain/shared/times.ts'
import type { RateLimits } from '../store/shared/rate-limits.ts'
import type { Config } from './schema.ts'

/** The limits that commands enforce, counted in MongoDB. */
export function createLimits(rateLimits: RateLimits, config: Config) {
  return {
    otp: rateLimits.bucket({ name: 'otp', points: config.OTP_PER_HOUR, windowMs: HOUR }, tooManyMails),
    mailsOfSender: rateLimits.bucket(
      { name: 'mails_of_sender', points: config.MAILS_PER_SENDER_PER_HOUR, windowMs: HOUR },
      tooManyMails,
    ),
    /** Mails to one address from all senders; beyond them, `furtherMails` permits one in three minutes. */
    mailsToAddress: rateLimits.bucket({ name: 'mails_to_address', points: 10, windowMs: HOUR }, tooManyMails),
    furtherMails: rateLimits.bucket({ name: 'further_mails', points: 1, windowMs: 3 * MINUTE }, tooManyMails),
    /** Failed Bluesky logins: per user and identifier, per user, and per identifier over all users. */
    blueskyGuess: rateLimits.bucket({ name: 'bluesky_guess', points: 5, windowMs: 15 * MINUTE }, tooManyBlueskyLogins),
    blueskyUser: rateLimits.bucket({ name: 'bluesky_user', points: 20, windowMs: HOUR }, tooManyBlueskyLogins),
    blueskyIdentifier: rateLimits.bucket(
      { name: 'bluesky_identifier', points: 20, windowMs: HOUR },
      tooManyBlueskyLogins,
    ),
    /** Connections that a user begins on a platform: each costs calls there, and a registration on a server that the user names. */
    connectStart: rateLimits.bucket(
      { name: 'connect_start', points: 30, windowMs: HOUR },
      (wait) => `Too many connection attempts. Try again in ${wait}.`,
    ),
    /** Receivers that a user names for webhooks, and test events: both make this service call any public server. */
    webhookUrl: rateLimits.bucket(
      { name: 'webhook_url', points: 30, windowMs: HOUR },
      (wait) => `Too many addresses of webhooks. Try again in ${wait}.`,
    ),
    webhookTest: rateLimits.bucket(
      { name: 'webhook_test', points: 60, windowMs: HOUR },
      (wait) => `Too many test events. Try again in ${wait}.`,
    ),
    resetMail: rateLimits.bucket(
      { name: 'reset_mail', points: config.RESET_MAILS_PER_HOUR, windowMs: HOUR },
      tooManyMails,
    ),
    /** Mails about notifications, per user and kind. What is beyond them is in the list. */
    notificationMails: rateLimits.bucket({ name: 'notification_mails', points: 10, windowMs: HOUR }),
    /** Pages and files that a user names: each makes this service call any public server. */
    linkPreview: rateLimits.bucket(
      { name: 'link_preview', points: 200, windowMs: HOUR },
      (wait) => `Too many link previews. Try again in ${wait}.`,
    ),
    mediaAddress: rateLimits.bucket(
      { name: 'media_address', points: 200, windowMs: HOUR },
      (wait) => `Too many files by address. Upload them, or try again in ${wait}.`,
    ),
    captions: rateLimits.bucket(
      { name: 'captions', points: config.CAPTIONS_PER_HOUR, windowMs: HOUR },
      (wait) => `Too many caption requests. Try again in ${wait}.`,
    ),
    /** Refreshes of one account. Each calls the platform under a quota that all users share; beyond them the stored profile is returned. */
    accountRefresh: rateLimits.bucket({ name: 'account_refresh', points: 10, windowMs: 10 * MINUTE }),
    analyticsRefresh: rateLimits.bucket(
      { name: 'analytics_refresh', points: 1, windowMs: config.ANALYTICS_REFRESH_SECONDS * SECOND },
      // Existing clients depend on this exact message.
      () => 'Too many requests',
    ),
    /** Failed refreshes that do not use up the allowance, so that a failing platform is not called without limit. */
    failedRefreshes: rateLimits.bucket({
      name: 'failed_refreshes',
      points: 10,
      windowMs: config.ANALYTICS_REFRESH_SECONDS * SECOND,
    }),
  }
}

function tooManyMails(wait: string): string {
  return `Too many mails were requested. Try again in ${wait}.`
}

function tooManyBlueskyLogins(wait: string): string {
  return `Too many failed Bluesky logins. Check the handle and the app password, then try again in ${wait}.`
}
