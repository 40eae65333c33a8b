import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

interface LockedPackage {
  integrity?: string
  version?: string
  resolved?: string
  /** True for a package of this repository; `resolved` is then its folder. */
  link?: boolean
}

const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
  packages: Record<string, LockedPackage>
}

/** Returns every installed copy of a package, at any depth. */
function copiesOf(name: string): string[] {
  return Object.entries(lock.packages)
    .filter(([path]) => path.endsWith(`node_modules/${name}`))
    .map(([, { version }]) => version ?? '')
}

/** Returns a positive number when `a` is newer. Pre-releases are compared by their numbers only. */
function compareVersions(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true })
}

describe('locked packages', () => {
  // All three have published vulnerabilities below these versions.
  test.each([
    ['fastify', '5.12.1'],
    ['fast-jwt', '6.3.0'],
    ['mongoose', '9.9.2'],
  ])('every copy of %s is %s or newer', (name, floor) => {
    const versions = copiesOf(name)
    expect(versions).not.toEqual([])
    expect(versions.filter((version) => compareVersions(version, floor) < 0)).toEqual([])
  })

  test('there is exactly one protobufjs 8, which replaying histories from JSON needs', () => {
    expect(copiesOf('protobufjs').filter((version) => version.startsWith('8.'))).toHaveLength(1)
    expect(lock.packages['node_modules/protobufjs']?.version).toMatch(/^8\./)
  })

  test('all Temporal packages are at one version', () => {
    const names = Object.keys(lock.packages).filter((path) => /node_modules\/@temporalio\/[^/]+$/.test(path))
    expect(names.length).toBeGreaterThan(4)
    expect(new Set(names.map((path) => lock.packages[path]?.version)).size).toBe(1)
  })

  test('every locked package of the registry has a hash of its content', () => {
    const installed = Object.entries(lock.packages).filter(
      ([path, { link }]) => path.includes('node_modules/') && !link,
    )
    expect(installed.filter(([, { integrity }]) => integrity === undefined)).toEqual([])
  })

  test('the lock file contains no registry URL', () => {
    expect(Object.entries(lock.packages).filter(([, { resolved, link }]) => resolved && !link)).toEqual([])
  })
})

describe('tracked files', () => {
  const files = execFileSync('git', ['ls-files', '-z'], { cwd: ROOT, encoding: 'utf8' })
    .split('\0')
    .filter((file) => file !== '' && file !== 'package-lock.json')

  test.each([
    ['the registry of its packages', /^\s*(?:export\s+)?(?:\S*registry|index-url|GOPROXY)\s*=\s*\S+\/\//im],
    ['a tarball of a registry', /https?:\/\/\S+\/-\/\S+\.tgz/],
    // Whoever registers a name first decides what such a command runs.
    [
      'a command that fetches a package of this repository from a registry',
      /\b(?:npx|bunx|dlx) (?:-\S+ )*@?postonce|\bnpm (?:add|exec|i|install) [^\n`]*@postonce\/|"-y", "@postonce\//,
    ],
  ])('no tracked file contains %s', (_what, pattern) => {
    expect(files.length).toBeGreaterThan(10)
    expect(files.filter((file) => pattern.test(read(file)))).toEqual([])
  })

  /** Returns an empty text for a tracked file that was deleted or moved. */
  function read(file: string): string {
    try {
      return readFileSync(join(ROOT, file), 'utf8')
    } catch {
      return ''
    }
  }
})

describe.each(['cli', 'mcp', 'sdk'])('the package %s', (name) => {
  const read = (file: string) => readFileSync(join(ROOT, 'packages', name, file), 'utf8')

  test('names its license, its files and its access', () => {
    expect(JSON.parse(read('package.json'))).toMatchObject({
      name: `@postonce/${name}`,
      description: expect.stringMatching(/\.$/),
      license: 'MIT',
      publishConfig: { access: 'public' },
      engines: { node: '>=20' },
      files: expect.arrayContaining(['dist']),
    })
  })

  test('has only links in its README that work on the page of a registry', () => {
    const targets = [...read('README.md').matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target)
    expect(targets.filter((target) => !/^(https:\/\/|#)/.test(target!))).toEqual([])
  })
})
