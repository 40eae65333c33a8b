import { escapeHtml } from '../shared/html.ts'
import { platformLabel, type Platform } from '../shared/platforms.ts'
import { CODE_LIFE_MS, RESET_LIFE_MS, type MailBody } from './mails.ts'
import type { NewNotification } from './notifications.ts'
import { REQUIRED_CHANNELS, type NotificationKind } from '../users/notification-preferences.ts'
import { joinUrl } from '../shared/redirects.ts'
import { MINUTE } from '../shared/times.ts'

type Part = string | { code: string } | { link: string; label: string }

/** Mails contain no user input except the recipient's address, so that the service cannot be abused to send messages. */
export function codeMail(code: string): MailBody {
  return compose('Your code for postonce', [
    'We received a request to register at postonce with this address. Enter this code to confirm it:',
    { code },
    `The code is valid for ${CODE_LIFE_MS / MINUTE} minutes. postonce never asks you for it by mail or phone.`,
    'If you did not request it, ignore this mail.',
  ])
}

export function addressKnownMail(frontendUrl: string): MailBody {
  return compose('You already have an account at postonce', [
    'We received a request to register at postonce with this address. The address already has an account, so no code is needed.',
    { link: joinUrl(frontendUrl, '/login'), label: 'Log in' },
    'If you forgot your password, reset it there. If you did not request this, ignore this mail.',
  ])
}

interface ResetLink {
  frontendUrl: string
  email: string
  token: string
}

export function resetMail({ frontendUrl, email, token }: ResetLink): MailBody {
  const link = joinUrl(frontendUrl, `/reset-password?${new URLSearchParams({ token, email })}`)
  return compose('Reset your postonce password', [
    `We received a request to reset the password of the account ${email}. Choose a new password here:`,
    { link, label: 'Choose a new password' },
    `The link is valid for ${RESET_LIFE_MS / MINUTE} minutes and can be used once.`,
    'If you did not request this, ignore this mail. Your password does not change.',
  ])
}

/** The reply to a password reset for an account without a password. */
export function resetElsewhereMail(frontendUrl: string): MailBody {
  return compose('Your postonce account logs in with Google', [
    'We received a request to reset the password of the account with this address. The account has no password: log in with Google.',
    { link: joinUrl(frontendUrl, '/login'), label: 'Log in with Google' },
    'If you did not request this, ignore this mail.',
  ])
}

/** Subjects and texts of mails about notifications. They name no account: one mail stands for all accounts of a post. */
const NOTIFICATION_TEXTS: Record<NotificationKind, [subject: string, text: string]> = {
  postCreated: ['A post was created', 'A post was created in your account.'],
  postPublished: ['A post was published', 'A post was published on at least one account.'],
  postFailed: [
    'A post could not be published',
    'A post could not be published on at least one account. Its page shows the reason and the next step.',
  ],
  postWarning: [
    'A post may fail or be late',
    'A post may fail or be late on at least one account. Its page shows the reason and the next step.',
  ],
  accountLogin: [
    'An account needs a new login',
    'The connection of an account has expired or will end soon. Without it, posts to the account fail. Reconnect the account.',
  ],
  billing: ['Your plan or payment has changed', 'Your plan, your subscription or a payment has changed.'],
  webhook: ['A webhook was disabled', 'A webhook was disabled, because its receiver did not accept events.'],
  security: [
    'An API key or webhook was created',
    'An API key or webhook was created in your account. If you did not create it, delete it and change your password.',
  ],
}

/** A mail about a notification. The notification's own message is not in it, because it quotes the user. */
export function notificationMail(
  frontendUrl: string,
  { kind, reference }: Pick<NewNotification, 'kind' | 'reference'>,
): MailBody {
  const [subject, text] = NOTIFICATION_TEXTS[kind]
  const isPost = reference.type === 'post'
  const platform = reference.type === 'platform' ? ` (${platformLabel(reference.id as Platform)})` : ''
  return compose(`${subject}${platform}`, [
    text,
    {
      link: joinUrl(frontendUrl, isPost ? `/posts/${encodeURIComponent(reference.id)}` : '/notifications'),
      label: isPost ? 'Open the post' : 'Open your notifications',
    },
    REQUIRED_CHANNELS[kind]?.includes('mail')
      ? 'This mail cannot be switched off.'
      : 'You can switch off these mails in the settings of your notifications.',
  ])
}

function compose(subject: string, parts: Part[]): MailBody {
  return {
    subject,
    text: `${[...parts.map(asText), '-- \npostonce'].join('\n\n')}\n`,
    html: `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(subject)}</title></head><body style="font:16px/1.5 sans-serif;max-width:36em">${parts.map(asHtml).join('')}<p>postonce</p></body></html>`,
  }
}

function asText(part: Part): string {
  if (typeof part === 'string') return part
  return 'code' in part ? part.code : `${part.label}:\n${part.link}`
}

function asHtml(part: Part): string {
  if (typeof part === 'string') return `<p>${escapeHtml(part)}</p>`
  if ('code' in part) return `<p style="font-size:2em;letter-spacing:.2em"><b>${escapeHtml(part.code)}</b></p>`
  return `<p><a href="${escapeHtml(part.link)}">${escapeHtml(part.label)}</a></p>`
}
