import type { SandboxResponse } from '../proxied-platform.ts'
import { escapeHtml, page } from '../shared/html.ts'
import type { Block, Blog } from './state.ts'

interface Shown {
  blog: Blog
  url: string
  timestamp: number
  tags: string[]
  /** The blocks with the public URLs of their media. */
  content: Block[]
}

/** The start page of the simulated Tumblr. */
export function startPage(blogs: Blog[], posts: Shown[]): SandboxResponse {
  const items = blogs.map(
    ({ name, title }) => `<li><a href="/${escapeHtml(name)}">${escapeHtml(name)}</a> ${escapeHtml(title)}</li>`,
  )
  return page(200, 'Tumblr sandbox', `<h2>Blogs</h2><ul>${items.join('')}</ul><h2>Posts</h2>${list(posts)}`)
}

export function postsPage(title: string, posts: Shown[]): SandboxResponse {
  return page(200, title, list(posts))
}

function list(posts: Shown[]): string {
  return posts.map(article).join('')
}

function article({ blog, url, timestamp, tags, content }: Shown): string {
  const at = new Date(timestamp * 1_000).toISOString()
  const marks = tags.map((tag) => `<li>#${escapeHtml(tag)}</li>`)
  return `<article><p>${escapeHtml(blog.name)} <a href="${escapeHtml(url)}">${at}</a></p>${content.map(toHtml).join('')}<ul>${marks.join('')}</ul></article><hr>`
}

function toHtml(block: Block): string {
  if (block.type === 'text') return `<p>${textToHtml(block)}</p>`
  const [{ url = '' } = {}] = [block['media']].flat() as { url?: string }[]
  if (block.type === 'video') return `<video src="${escapeHtml(url)}" controls></video>`
  return `<img src="${escapeHtml(url)}" alt="${escapeHtml(block.alt_text ?? '')}" width="400">`
}

/** Only marked links become links. */
function textToHtml({ text, formatting = [] }: Block): string {
  const characters = [...(text as string)]
  const escaped = (from: number, to?: number) =>
    escapeHtml(characters.slice(from, to).join('')).replaceAll('\n', '<br>')
  let at = 0
  const parts: string[] = []
  for (const { start, end, url } of formatting as { start: number; end: number; url: string }[]) {
    parts.push(escaped(at, start), `<a href="${escapeHtml(url)}">${escaped(start, end)}</a>`)
    at = end
  }
  return [...parts, escaped(at)].join('')
}
