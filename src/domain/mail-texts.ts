import { escapeHtml } from './html.ts'
import { CODE_LIFE_MS, type MailWords } from './mails.ts'
import { MINUTE } from './times.ts'

type Part = string | { code: string } | { link: string; label: string }

/** Nothing of what users wrote stands in a mail but the address it goes to: nobody can send others words of theirs through us. */
export function codeMail(code: string): MailWords {
  return compose('Your code for postonce', [
    'Somebody, probably you, wants to register at postonce with this address. The code is:',
    { code },
    `It is good for ${CODE_LIFE_MS / MINUTE} minutes. Nobody from postonce will ever ask you for it.`,
    'If it was not you, there is nothing to do.',
  ])
}

function compose(subject: string, parts: Part[]): MailWords {
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
