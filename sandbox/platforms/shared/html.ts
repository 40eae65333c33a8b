import { escapeHtml } from '../../../src/domain/shared/html.ts'
import type { SandboxResponse } from '../proxied-platform.ts'

export { escapeHtml }

const STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:2rem auto;padding:0 1rem;overflow-wrap:anywhere}img,video{max-width:min(20rem,100%);border-radius:8px}hr{border:0;border-top:1px solid #ddd}fieldset{border:1px solid #ddd;border-radius:8px;margin:1rem 0;min-width:0}button,select,input{font:inherit;padding:.3rem .8rem;max-width:100%;box-sizing:border-box}'

/** `body` is HTML, the title is text. */
export function page(status: number, title: string, body: string): SandboxResponse {
  const html = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>${escapeHtml(title)}</title><style>${STYLE}</style><h1>${escapeHtml(title)}</h1>${body}</html>\n`
  return { status, headers: { 'content-type': 'text/html; charset=utf-8' }, body: html }
}

export function errorPage(status: number, message: string): SandboxResponse {
  return page(status, 'An error has occurred', `<p>${escapeHtml(message)}</p>`)
}

export function redirect(to: string, params: Record<string, string | undefined> = {}): SandboxResponse {
  const url = new URL(to)
  for (const [name, value] of Object.entries(params)) if (value !== undefined) url.searchParams.set(name, value)
  return { status: 302, headers: { location: url.href } }
}
