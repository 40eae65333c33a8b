import { escapeHtml } from '../shared/html.ts'
import { CODE_LIFE_MS, RESET_LIFE_MS, type MailBody } from './mails.ts'
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
