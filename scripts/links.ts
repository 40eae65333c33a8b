/**
 * Checks the links of the repository without network access and prints every broken one: relative links and their anchors in all tracked
 * Markdown files, paths in backticks there, and references to `docs/` pages in code comments, and decisions (`ADR "<title>"`) everywhere.
 *
 *   node scripts/run.mjs scripts/links.ts
 */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import GithubSlugger from 'github-slugger'
import { listRepositoryFiles, ROOT } from './repository-files.ts'

const CODE = /\.(ts|mjs|js|ya?ml|sh|env|css|html)$|(^|\/)(Dockerfile|run)$/
/** Files that a reader creates. */
const CREATED_BY_READERS = ['deploy/.env']
/** This test contains sample links to pages that do not exist. */
const SAMPLES = 'tests/tooling/links.test.ts'
const TOP_LEVEL = ['src', 'tests', 'docs', 'scripts', 'sandbox', 'bench', 'deploy', 'packages']

export interface Tree {
  /** Tracked files, from the repository root. */
  files: string[]
  read(path: string): string
  /** Returns true when a path exists, or a pattern such as `tests/*.ts` matches a file. */
  exists(path: string): boolean
}

/** Returns one line per broken link: the file, and what it refers to. */
export function findBrokenLinks(tree: Tree): string[] {
  const anchors = new Map<string, Set<string>>()
  const findAnchors = (page: string) => {
    if (!anchors.has(page)) anchors.set(page, headingAnchors(tree.read(page)))
    return anchors.get(page)!
  }
  const decisions = new Set(
    tree.files.filter((file) => /^docs\/adr\/\d{4}-/.test(file)).map((file) => toTitle(tree.read(file))),
  )

  function findProblem(target: string): string | null {
    const [path = '', anchor] = target.split('#')
    if (path !== '' && !CREATED_BY_READERS.includes(path) && !tree.exists(path)) return 'does not exist'
    if (anchor && path.endsWith('.md') && !findAnchors(path).has(anchor)) return 'has no such heading'
    return null
  }

  function report(file: string, targets: string[]): string[] {
    return targets.flatMap((target) => {
      const problem = findProblem(target)
      return problem === null ? [] : [`${file}: ${target} ${problem}`]
    })
  }

  return tree.files.flatMap((file) => {
    if (file.endsWith('.md')) {
      const text = tree.read(file)
      return [
        ...report(file, [...relativeLinks(text, file), ...quotedPaths(text)]),
        ...badCitations(file, text, decisions),
      ]
    }
    if (!CODE.test(file) || file === SAMPLES) return []
    const text = tree.read(file)
    return [...report(file, pageReferences(text)), ...badCitations(file, text, decisions)]
  })
}

/** The targets of links and images in a page, from the repository root. Links to other sites are left out. */
function relativeLinks(text: string, file: string): string[] {
  const targets = [...removeCode(text).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target)
  return targets
    .filter((target) => !/^[a-z][a-z+.-]*:/i.test(target))
    .map((target) => (target.startsWith('#') ? `${file}${target}` : posix.join(posix.dirname(file), target)))
}

/** Paths of this repository that a page names in backticks. */
function quotedPaths(text: string): string[] {
  const prose = text.replaceAll(/^```[\s\S]*?^```/gm, '')
  const spans = [...prose.matchAll(/`([\w.*{},-]+(?:\/[\w.*{},-]+)*\/?)`/g)].map(([, path = '']) => path)
  return spans.filter((path) => path.includes('/') && TOP_LEVEL.includes(path.split('/')[0]!))
}

/** Pages of `docs/` that a comment or a message refers to, with their anchors. */
function pageReferences(text: string): string[] {
  return [...text.matchAll(/(?<![\w./-])(docs\/[\w/-]+\.md(?:#[\w-]+)?)/g)].map(([, page = '']) => page)
}

/** Decisions are cited by their title, because numbers change when a decision is removed. A line break in a comment counts as a space. */
function badCitations(file: string, text: string, decisions: Set<string>): string[] {
  const numbers = [...text.matchAll(/\bADRs? \d+/g)].map(
    ([citation]) => `${file}: ${citation} has to be cited by its title`,
  )
  const titles = [...text.matchAll(/\bADR "([A-Z][^"]+)"/g)].map(([, title = '']) =>
    title.replaceAll(/\s+(?:(?:\*|\/\/|#) )?/g, ' '),
  )
  const unknown = titles
    .filter((title) => !decisions.has(title))
    .map((title) => `${file}: ADR "${title}" does not exist`)
  return [...new Set([...numbers, ...unknown])]
}

/** The title of a decision: its first heading without the number. Quotation marks are left out. */
function toTitle(text: string): string {
  return (/^# \d+\. (.+)$/m.exec(text)?.[1] ?? '').replaceAll('"', '')
}

/** The anchors that GitHub gives to the headings of a page. */
function headingAnchors(text: string): Set<string> {
  const slugger = new GithubSlugger()
  const headings = [...removeFences(text).matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) => heading.trim())
  return new Set(headings.map((heading) => slugger.slug(heading.replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1'))))
}

const removeFences = (text: string) => text.replaceAll(/^[ \t]*```[\s\S]*?^[ \t]*```/gm, '')
const removeCode = (text: string) => removeFences(text).replaceAll(/`[^`\n]*`/g, '')

function repository(): Tree {
  return {
    files: listRepositoryFiles(),
    read: (path) => readFileSync(join(ROOT, path), 'utf8'),
    exists: (path) => existsSync(join(ROOT, path)) || globSync(path, { cwd: ROOT }).length > 0,
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const broken = findBrokenLinks(repository())
  for (const line of broken) console.error(line)
  if (broken.length > 0) process.exitCode = 1
}
