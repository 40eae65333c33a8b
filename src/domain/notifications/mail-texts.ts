import { escapeHtml } from '../shared/html.ts'
import { CODE_LIFE_MS, RESET_LIFE_MS, type MailBody } from './mails.ts'
import { joinUrl } from '../shared/redirects.ts'
import { MINUTE } from '../shared/times.ts'

type Part = string | { code: string } | { link: string; label: string }

/** Nothing of what users wrote stands in a mail but the address it goes to: nobody can send others words of theirs through us. */
export function codeMail(code: string): MailBody {
  return compose('Your code for postonce', [
    'Somebody, probably you, wants to register at postonce with this address. The code is:',
    { code },
    `It is good for ${CODE_LIFE_MS / MINUTE} minutes. Nobody from postonce will ever ask you for it.`,
    'If it was not you, there is nothing to do.',
  ])
}

export function addressKnownMail(frontendUrl: string): MailBody {
  return compose('You already have an account at postonce', [
    'Somebody, probably you, wants to register at postonce with this address. It has an account already, so there is no code.',
    { link: joinUrl(frontendUrl, '/login'), label: 'Log in' },
    'If you forgot your password, ask for a new one there. If it was not you, there is nothing to do.',
  ])
}

interface ResetLink {
  frontendUrl: string
  email: string
  token: string
}

export function resetMail({ frontendUrl, email, token }: ResetLink): MailBody {
  const link = joinUrl(frontendUrl, `/reset-password?${new URLSearchParams({ token, email })}`)
  return compose('A new password for postonce', [
    `Somebody, probably you, asked for a new password for the account of ${email}. Choose it here:`,
    { link, label: 'Choose a new password' },
    `The link is good for ${RESET_LIFE_MS / MINUTE} minutes, and once.`,
    'If it was not you, there is nothing to do: the password stays as it is.',
  ])
}

/** For accounts that have no password to be forgotten. */
export function resetElsewhereMail(frontendUrl: string): MailBody {
  return compose('Your account at postonce logs in with Google', [
    'Somebody, probably you, asked for a new password for the account of this address. It has none: it logs in with Google.',
    { link: joinUrl(frontendUrl, '/login'), label: 'Log in with Google' },
    'If it was not you, there is nothing to do.',
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
