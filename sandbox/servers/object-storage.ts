import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from '../../scripts/provision.mjs'
import { findOrFetch } from './find-or-fetch.ts'
import { freePort, startProcess, type Running } from './process.ts'
import { goArch, goInstall, releaseArchive } from './sources.ts'

const VERSION = '1.8.0'

export interface ObjectStorage extends Running {
  endpoint: string
  accessKeyId: string
  secretAccessKey: string
}

export function findObjectStorage(): Promise<string> {
  const system = process.platform === 'darwin' ? 'Darwin' : 'Linux'
  const processor = goArch === 'amd64' ? 'x86_64' : goArch
  const release = `https://github.com/versity/versitygw/releases/download/v${VERSION}/versitygw_v${VERSION}_${system}_${processor}.tar.gz`
  return findOrFetch({
    title: 'The S3 gateway versitygw',
    program: 'versitygw',
    version: VERSION,
    variable: 'POSTONCE_VERSITYGW',
    probe: async (path) => void (await run(path, ['--version'], { timeoutMs: 20_000 })),
    sources: [
      releaseArchive("the project's releases on github.com", release, 'versitygw'),
      goInstall('github.com/versity/versitygw/cmd/versitygw', VERSION, 'about a minute'),
    ],
    advice: 'install versitygw (https://github.com/versity/versitygw/releases) or Go 1.25 or newer.',
  })
}

export interface ObjectStorageOptions {
  program: string
  logFile: string
  accessKeyId: string
  secretAccessKey: string
  /** The folder of the objects; by default they are deleted on stop. */
  dir?: string
  port?: number
  signal?: AbortSignal
}

export async function startObjectStorage(options: ObjectStorageOptions): Promise<ObjectStorage> {
  const { accessKeyId, secretAccessKey } = options
  const port = options.port ?? (await freePort())
  const endpoint = `http://127.0.0.1:${port}`
  const dir = options.dir ?? mkdtempSync(join(tmpdir(), 'postonce-storage-'))
  const [objects, metadata, iam] = ['objects', 'metadata', 'iam'].map((name) => join(dir, name)) as [
    string,
    string,
    string,
  ]
  for (const folder of [objects, metadata, iam]) mkdirSync(folder, { recursive: true })
  const running = await startProcess({
    title: 'The S3 gateway',
    command: options.program,
    args: ['--port', `127.0.0.1:${port}`, '--iam-dir', iam, '--quiet', 'posix', '--sidecar', metadata, objects],
    // Passed by the environment, because all users of the machine can read command lines.
    env: { ...process.env, ROOT_ACCESS_KEY_ID: accessKeyId, ROOT_SECRET_ACCESS_KEY: secretAccessKey },
    logFile: options.logFile,
    signal: options.signal,
    ready: async () => (await fetch(endpoint, { signal: AbortSignal.timeout(1_000) })).status > 0,
  })
  return {
    ...running,
    endpoint,
    accessKeyId,
    secretAccessKey,
    async stop() {
      await running.stop()
      if (options.dir === undefined) rmSync(dir, { recursive: true, force: true })
    },
  }
}
