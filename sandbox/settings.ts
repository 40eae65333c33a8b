import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { Platform } from '../src/domain/shared/platforms.ts'
import type { ConnectedFurther } from './further-accounts.ts'
import { readJson, writeJson } from './platforms/json-file.ts'
import type { Options } from './options.ts'
import { freePort } from './servers/process.ts'

const USUAL_PORTS = {
  api: 4000,
  frontend: 3000,
  mongod: 27017,
  temporal: 7233,
  temporalUi: 8233,
  storage: 7070,
  startPage: 4080,
}

export type PortName = keyof typeof USUAL_PORTS

export interface SandboxUser {
  email: string
  password: string
  role: 'user' | 'admin'
}

export interface FirstPost {
  postId: string
  /** The URLs of the post, by account. */
  addresses: Record<string, string>
}

/** The settings that a sandbox stores between starts. */
export interface Settings {
  ports: Record<PortName, number>
  secrets: {
    jwt: string
    refreshToken: string
    oauthState: string
    tokenEncryption: string
    s3AccessKeyId: string
    s3SecretAccessKey: string
  }
  users: { user: SandboxUser; admin: SandboxUser }
  /** A key of the sample user with all scopes. */
  apiKey: string | null
  /** Where the accounts of the sample user were connected. */
  connectedAt: Partial<Record<Platform, string>>
  /** The further accounts of the sample user that were connected, by their keys. */
  furtherAccounts: Record<string, ConnectedFurther>
  firstPost: FirstPost | null
  /** True when the sample user has the two weeks of sample posts. */
  hasPast: boolean
}

/** A port of an earlier start, or a default, that another program uses now. */
export interface MovedPort {
  name: PortName
  from: number
  to: number
}

/**
 * Returns the settings of the last start, or new ones. A port stays the same while it is free, so that saved addresses
 * keep working; otherwise it moves. The port of the user's own frontend is never used.
 * @throws an error with a message when the requested port is in use
 */
export async function resolveSettings(options: Options): Promise<{ settings: Settings; moved: MovedPort[] }> {
  const stored = readJson<Partial<Settings>>(fileOf(options.dir), {})
  const wanted = { ...USUAL_PORTS, ...stored.ports, ...(options.port === undefined ? {} : { api: options.port }) }
  const settings: Settings = {
    ports: await reservePorts(wanted, portOf(options.frontend)),
    // Secrets that a newer version added are generated.
    secrets: { ...makeSecrets(), ...stored.secrets },
    users: stored.users ?? makeUsers(),
    apiKey: stored.apiKey ?? null,
    connectedAt: stored.connectedAt ?? {},
    furtherAccounts: stored.furtherAccounts ?? {},
    firstPost: stored.firstPost ?? null,
    hasPast: stored.hasPast ?? false,
  }
  if (options.port !== undefined && settings.ports.api !== options.port) {
    throw new Error(`Port ${options.port} is used by another program. Stop that program, or choose another --port.`)
  }
  keep(options.dir, settings)
  const names = Object.keys(USUAL_PORTS) as PortName[]
  const moved = names.map((name) => ({ name, from: wanted[name], to: settings.ports[name] }))
  return { settings, moved: moved.filter(({ from, to }) => from !== to) }
}

/** The port if it is on this machine; `null` elsewhere. */
function portOf(frontend: string | null): number | null {
  const { hostname, port } = new URL(frontend ?? 'http://elsewhere')
  return ['localhost', '127.0.0.1', '[::1]'].includes(hostname) ? Number(port || 80) : null
}

export function keep(dir: string, settings: Settings): void {
  writeJson(fileOf(dir), settings)
}

export function isSandbox(dir: string): boolean {
  return readJson<object | null>(fileOf(dir), null) !== null
}

function fileOf(dir: string): string {
  return join(dir, 'settings.json')
}

async function reservePorts(
  wanted: Record<PortName, number>,
  reserved: number | null,
): Promise<Record<PortName, number>> {
  const chosen = { ...wanted }
  for (const name of Object.keys(USUAL_PORTS) as PortName[]) {
    chosen[name] = await freePort(wanted[name] === reserved ? undefined : wanted[name])
  }
  return chosen
}

export function makeSecrets(): Settings['secrets'] {
  return {
    jwt: randomText(48),
    refreshToken: randomText(48),
    oauthState: randomText(48),
    tokenEncryption: `sandbox:${randomBytes(32).toString('base64')}`,
    s3AccessKeyId: `sandbox-${randomBytes(6).toString('hex')}`,
    s3SecretAccessKey: randomText(30),
  }
}

function makeUsers(): Settings['users'] {
  return {
    user: { email: 'user@example.com', password: randomText(12), role: 'user' },
    admin: { email: 'admin@example.com', password: randomText(12), role: 'admin' },
  }
}

function randomText(bytes: number): string {
  return randomBytes(bytes).toString('base64url')
}
