/**
 * `node scripts/run.mjs scripts/words.ts [paths]`: finds words of the project's word list in what people read: comments, texts of at
 * least three words (test titles, messages), Markdown, and the names in `src`. Quoted code is not checked.
 *
 * A comment with `words-ok: <reason>` permits the words of its own line and of the next one.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import jsTokens from 'js-tokens'
import { listRepositoryFiles, ROOT } from './repository-files.ts'

interface Rule {
  pattern: RegExp
  /** The suggested replacement. */
  instead: string
}

/** A piece of text for people, and where it starts in its file. */
interface Passage {
  text: string
  start: number
}

export interface Finding {
  line: number
  words: string
  instead: string
}

const RULES: Rule[] = [
  // "look up" and "looks like" are ordinary English.
  { pattern: /\blook(?:s|ed|ing)?\b(?![ -](?:up|like)\b)/giu, instead: 'read, check or reconcile' },
  { pattern: /\b(?:un)?told\b|\btell(?:s|ing)?\b/giu, instead: 'report, notify, state or show' },
  { pattern: /\bsaid\b/giu, instead: 'stated or reported' },
  { pattern: /\b(?:un)?heard\b/giu, instead: 'received' },
  { pattern: /\bstand(?:s|ing)?\b(?! for\b)/giu, instead: 'is, stays or appears' },
  { pattern: /\bseen to\b/giu, instead: 'handled' },
  { pattern: /\bcomes? to\b(?! mind\b)/giu, instead: 'results in' },
  { pattern: /\bgo(?:es)? out\b|\b(?:is|are|was|were) out\b(?! of\b)/giu, instead: 'is published or sent' },
  { pattern: /\bkept\b/giu, instead: 'stored or cached' },
  { pattern: /\bworked out\b/giu, instead: 'computed' },
  { pattern: /\bmade up\b(?! of\b)/giu, instead: 'sample or invented' },
  { pattern: /\ba way to\b/giu, instead: 'a link, method or option to' },
  { pattern: /\bby the hands? of\b/giu, instead: 'by' },
  { pattern: /\b(?:nobody|everybody|somebody)\b/giu, instead: 'no user, all users or a user' },
  { pattern: /\bat once\b/giu, instead: 'immediately or concurrently' },
  // "must be one of the following" is ordinary English.
  { pattern: /\bthe one of\b|\bone of (?:which|whom|its|their|his)\b/giu, instead: 'the noun itself' },
  { pattern: /\bof which\b/giu, instead: 'a sentence of its own' },
  { pattern: /\bgood for\b/giu, instead: 'valid for' },
  { pattern: /\blets? go of\b/giu, instead: 'releases' },
  { pattern: /\bin the way of\b/giu, instead: 'blocks' },
  { pattern: /\bfor good\b(?! (?:measure|reasons?)\b)/giu, instead: 'permanently' },
  { pattern: /\bthe truth\b/giu, instead: 'the actual state' },
  { pattern: /\bperhaps\b/giu, instead: 'may, or nothing' },
]

const ESCAPE = /words-ok: \S/
const MIN_WORDS = 3

const CHECKED = /\.(?:ts|tsx|mts|mjs|js|md|yml|sh)$|^\.ci\/|Dockerfile/
/** Files that programs write or record, and the list itself with its test. */
const EXCLUDED =
  /^(?:package-lock\.json|docs\/openapi\.json|packages\/sdk\/src\/generated\/|bench\/results\/|tests\/workflows\/histories\/[^/]+\/|scripts\/words\.ts$|tests\/tooling\/words\.test\.ts$)/

/** Returns the passages of a TypeScript or JavaScript file: comments, texts of at least three words, and in `src` its names. */
function readCode(source: string, path: string): Passage[] {
  const passages: Passage[] = []
  let start = 0
  for (const { type, value } of jsTokens(source, { jsx: path.endsWith('.tsx') })) {
    if (/Comment$/.test(type)) passages.push({ text: value, start })
    else if (/^String|Template|^JSX(?:String|Text)/.test(type) && value.split(/\s+/).length >= MIN_WORDS)
      passages.push({ text: value, start })
    else if (type === 'IdentifierName' && path.startsWith('src/')) passages.push({ text: toWords(value), start })
    start += value.length
  }
  return passages
}

/** `lastSeenAt` becomes `last seen at`. */
function toWords(name: string): string {
  return name.replace(/(?<=[a-z\d])(?=[A-Z])|_/g, ' ')
}

/** Returns the passages of a file by its kind. */
function readPassages(source: string, path: string): Passage[] {
  if (/\.(?:ts|tsx|mts|mjs|js)$/.test(path)) return readCode(source, path)
  if (path.endsWith('.md')) return [{ text: source.replace(/^```[\s\S]*?^```/gm, blank), start: 0 }]
  return Array.from(source.matchAll(/(?:^|\s)#.*/gm), ({ 0: text, index }) => ({ text, start: index }))
}

/** Finds the words of the list in the passages of a file, in order of their lines. */
export function findWords(source: string, path: string): Finding[] {
  const lines = source.split('\n')
  const findings = readPassages(source, path).flatMap(({ text, start }) => {
    const prose = text.replace(/`[^`\n]*`/g, blankUnlessTemplate).replace(/\]\([^)\n]*\)|https?:\S+/g, blank)
    return RULES.flatMap(({ pattern, instead }) =>
      Array.from(prose.matchAll(pattern), ({ 0: words, index }) => ({
        line: lineAt(source, start + index),
        words,
        instead,
      })),
    )
  })
  const isPermitted = (line: number) => ESCAPE.test(lines[line - 1] ?? '') || ESCAPE.test(lines[line - 2] ?? '')
  return findings.filter(({ line }) => !isPermitted(line)).toSorted((one, other) => one.line - other.line)
}

/** Inline code is not prose; a template literal that fills the passage is. */
function blankUnlessTemplate(code: string, index: number, whole: string): string {
  return index === 0 && code.length === whole.length ? code : blank(code)
}

function blank(text: string): string {
  return text.replace(/[^\n]/g, ' ')
}

function lineAt(source: string, index: number): number {
  return source.slice(0, index).split('\n').length
}

function main(): void {
  const files = listRepositoryFiles(process.argv.slice(2)).filter((path) => CHECKED.test(path) && !EXCLUDED.test(path))
  const findings = files.flatMap((path) =>
    findWords(readFileSync(join(ROOT, path), 'utf8'), path).map((finding) => ({ path, ...finding })),
  )
  for (const { path, line, words, instead } of findings) console.log(`${path}:${line} "${words}": write ${instead}`)
  if (findings.length > 0) process.exitCode = 1
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main()
