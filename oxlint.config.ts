import { defineConfig, type OxlintOverride } from 'oxlint'

/** What the files of one folder of `src` may import. Paths are relative to `src`, `**` reaches into folders. */
interface Fence {
  folder: string
  /** Files whose values may be imported; files of the same folder always may. */
  may: string[]
  /** Files with types that may be imported, but no values. */
  types?: string[]
  /** Packages and Node built-ins that may be imported. */
  packages: string[] | 'any'
  /** Packages with types that may be imported, but no values. */
  packageTypes?: string[]
  /** Sub-folders that all sub-folders of this folder may import. */
  shared: string[]
  /** The sub-folders that a sub-folder imports besides its own files, the folder's own files and the shared ones. */
  needs?: Record<string, string[]>
}

/** Names and shapes that both sides of a workflow need; the only files of `workflows` that the rest may import. */
const WORKFLOW_CONTRACT = 'workflows/contract/*.ts'
/** All of `security` but `random.ts`, which needs no set-up. */
const SECURITY = [
  'connect-states',
  'known-devices',
  'one-time-codes',
  'password-hasher',
  'pseudonyms',
  'refresh-tokens',
  'token-cipher',
].map((name) => `security/${name}.ts`)
const CLIENTS = [
  'platforms/contract.ts',
  'platforms/registry.ts',
  'platforms/*/**',
  'integrations/**',
  ...SECURITY,
  'telemetry/metrics.ts',
]
const WIRING = ['context.ts', 'config/*.ts', 'logger.ts']

/** The import table of the architecture: which folder and which feature may import which. */
const FENCES: Fence[] = [
  {
    folder: 'domain',
    may: [],
    packages: ['@js-temporal/polyfill', '@zxcvbn-ts/language-common', 'minidenticons'],
    shared: ['shared'],
    needs: {
      accounts: ['posts'],
      analytics: ['posts'],
      captions: ['posts'],
      events: ['accounts', 'billing', 'posts', 'users'],
      imports: ['billing', 'media', 'posts'],
      media: ['posts'],
      notifications: ['billing', 'events', 'posts', 'users', 'webhooks'],
      users: ['analytics', 'billing', 'posts'],
      webhooks: ['events'],
    },
  },
  // Queues, limits and deadlines of one process: nothing there knows what it regulates.
  { folder: 'flow', may: ['domain/shared/times.ts'], packages: [], shared: [] },
  {
    folder: 'workflows',
    may: ['domain/**', 'flow/**'],
    types: ['activities/**'],
    packages: ['@temporalio/workflow', '@temporalio/common'],
    shared: ['contract', 'shared'],
  },
  {
    folder: 'activities',
    may: ['domain/**', 'flow/**', 'commands/**', 'platforms/errors.ts', 'store/mongo-errors.ts', WORKFLOW_CONTRACT],
    types: ['store/*/**', 'clock.ts', ...CLIENTS, ...WIRING],
    packages: ['@temporalio/activity', '@temporalio/common', 'node:*', 'node:*/*'],
    shared: ['shared'],
    needs: { analytics: ['publishing'] },
  },
  {
    folder: 'commands',
    may: ['domain/**', 'flow/**', 'store/**', 'platforms/errors.ts', 'security/random.ts', WORKFLOW_CONTRACT],
    types: ['clock.ts', 'logger.ts', ...CLIENTS],
    packages: ['node:*', 'node:*/*'],
    shared: ['shared'],
    needs: {
      billing: ['users'],
      captions: ['posts'],
      imports: ['accounts', 'posts'],
      posts: ['accounts', 'events', 'media'],
      users: ['notifications'],
    },
  },
  {
    folder: 'api',
    may: ['commands/**', 'domain/**', 'flow/**', 'store/**', 'security/random.ts', '../package.json'],
    types: ['clock.ts', ...CLIENTS, ...WIRING],
    packages: [
      'fastify',
      'fastify-plugin',
      '@fastify/*',
      'socket.io',
      'engine.io',
      '@sinclair/typebox',
      '@sinclair/typebox/*',
      'ajv',
      'ajv-formats',
      'csv-parse',
      'csv-stringify',
      'csv-stringify/sync',
      'lru-cache',
      'rate-limiter-flexible',
      'prom-client',
      'node:*',
      'node:*/*',
    ],
    packageTypes: ['pino'],
    shared: ['openapi', 'plugins', 'shared'],
    needs: {
      admin: ['auth', 'posts'],
      analytics: ['posts'],
      imports: ['posts'],
      payments: ['auth'],
      platforms: ['posts'],
      profile: [
        ...[
          'auth',
          'groups',
          'imports',
          'keys',
          'notifications',
          'payments',
          'platforms',
          'posts',
          'slots',
          'webhooks',
        ],
      ],
      slots: ['posts'],
      realtime: ['notifications'],
    },
  },
  {
    folder: 'store',
    may: ['domain/**', 'flow/**'],
    types: ['clock.ts'],
    packages: ['mongoose', 'rate-limiter-flexible', 'node:*', 'node:*/*'],
    shared: ['shared'],
    needs: { accounts: ['events'], analytics: ['events', 'posts', 'users'], shared: ['notifications'] },
  },
  {
    folder: 'platforms',
    may: ['domain/**', 'flow/**'],
    types: ['clock.ts'],
    packages: 'any',
    shared: ['shared'],
  },
  {
    folder: 'integrations',
    may: ['domain/**', 'flow/**', WORKFLOW_CONTRACT],
    types: ['clock.ts', 'telemetry/metrics.ts'],
    packages: 'any',
    shared: ['shared'],
    needs: { captions: ['storage'], pages: ['storage'] },
  },
  { folder: 'security', may: ['domain/**', 'flow/**'], types: ['clock.ts'], packages: 'any', shared: [] },
]

/** Folders that put the others together, and may import all of them. */
const WIRING_FOLDERS = ['cli', 'config', 'context', 'telemetry', 'worker']

/** What no file of `src` imports. The paths lead out of `src` from any depth. */
const OUTSIDE = ['**/sandbox/**', '**/tests/**', '**/bench/**', '**/scripts/**', '**/packages/**', '@postonce/*']
const OUTSIDE_MESSAGE = 'src imports nothing from sandbox, tests, bench, scripts or packages'

/**
 * What the simulators import of `src`: names and data. Their rules come from the documentation of what they simulate, so
 * that a mistake of the service shows.
 */
const SIMULATORS = [
  'domain/accounts/platform-connect.ts',
  'domain/shared/domain-endings.ts',
  'domain/shared/html.ts',
  'domain/shared/platforms.ts',
  'domain/users/identity-login.ts',
]
const SIMULATORS_MESSAGE = 'oxlint.config.ts lists what simulators may import of src: names and data, no rules'

function simulatorOverride(depth: number): OxlintOverride {
  const src = `${'../'.repeat(depth)}src/`
  const group = [`${src}**`, ...SIMULATORS.map((path) => `!${src}${path}`)]
  return {
    files: [`sandbox/{platforms,services}/${'*/'.repeat(depth - 2)}*.ts`],
    rules: { 'eslint/no-restricted-imports': ['error', { patterns: [{ group, message: SIMULATORS_MESSAGE }] }] },
  }
}

/** The imports of the packages besides their own files. The SDK runs in browsers as well, and the console nowhere else. */
const PACKAGES: Record<string, string[]> = {
  sdk: [],
  cli: ['@postonce/sdk', 'commander', '@bomb.sh/tab', '@bomb.sh/tab/*', 'node:*', 'node:*/*'],
  mcp: ['@postonce/sdk', '@modelcontextprotocol/sdk/**', 'zod/v4', 'node:*', 'node:*/*'],
  console: [
    ...['@postonce/sdk', 'react', 'react-dom', 'react-dom/*', 'get-nonce', 'dayjs', 'dayjs/**', 'recharts'],
    ...['@mantine/**', '@tanstack/**', 'lucide-react'],
  ],
}

/** The files of a package at this depth below `src` reach its own files, and none of another package. */
function packageOverride(name: string, packages: string[], depth: number): OxlintOverride {
  const own = Array.from({ length: depth + 1 }, (_, index) => `${'../'.repeat(index + 1)}[a-z]*`)
  const allowed = ['./**', ...own.flatMap((path) => [path, `${path}/**`]), ...packages]
  const group = ['*', `${'../'.repeat(depth + 2)}**`, ...allowed.map((path) => `!${path}`)]
  const message = `oxlint.config.ts lists what packages/${name} may import`
  return {
    files: [`packages/${name}/src/${'*/'.repeat(depth)}*.{ts,tsx}`],
    rules: { 'eslint/no-restricted-imports': ['error', { patterns: [{ group, message }] }] },
  }
}

/** One override for each depth of a folder, because patterns match the import as it is written; features with needs come later. */
function overridesOf(fence: Fence): OxlintOverride[] {
  const features: [name: string, needs: string[]][] = [['*', []], ...Object.entries(fence.needs ?? {})]
  return [
    overrideOf(fence, '*.ts', 1, []),
    ...features.flatMap(([name, needs]) =>
      [2, 3, 4].map((depth) => overrideOf(fence, `${name}/${'*/'.repeat(depth - 2)}*.ts`, depth, needs)),
    ),
  ]
}

function overrideOf(fence: Fence, files: string, depth: number, needs: string[]): OxlintOverride {
  return {
    files: [`src/${fence.folder}/${files}`],
    rules: { 'eslint/no-restricted-imports': ['error', { patterns: patternsOf(fence, depth, needs) }] },
  }
}

/**
 * What a group lets through by `!` no other group can refuse again: so the types come first, and as a regular expression,
 * which is judged on its own.
 */
function patternsOf(fence: Fence, depth: number, needs: string[]) {
  const up = '../'.repeat(depth)
  const outOfFolder = (paths: string[]) => paths.map((path) => `${up}${path}`)
  const types = [...outOfFolder(fence.types ?? []), ...(fence.packageTypes ?? [])]
  const packages = fence.packages === 'any' ? [] : fence.packages
  const allowed = [...ownFiles(fence, depth, needs), ...outOfFolder(fence.may), ...packages, ...types]
  const message = `oxlint.config.ts lists what ${fence.folder} may import`
  return [
    ...types.map((path) => ({ regex: regexOf(path), allowTypeImports: true, message: `only types: ${message}` })),
    {
      group: [...(fence.packages === 'any' ? ['../**', '@postonce/*'] : ['*']), ...allowed.map((path) => `!${path}`)],
      message,
    },
  ]
}

function regexOf(glob: string): string {
  const source = glob.replace(/[.]/g, '\\.').replace(/\*\*|\*/g, (stars) => (stars === '**' ? '.+' : '[^/]+'))
  return `^${source}$`
}

/** The files that an import reaches without leaving its folder; `[a-z]` keeps `..` from counting as a name. */
function ownFiles({ shared }: Fence, depth: number, needs: string[]): string[] {
  if (depth === 1) return ['./**']
  const below = (parent: string) => [`${parent}[a-z]*`, `${parent}[a-z]*/**`]
  const root = '../'.repeat(depth - 1)
  const ownFeature = Array.from({ length: depth - 2 }, (_, index) => '../'.repeat(index + 1)).flatMap(below)
  return ['./**', ...ownFeature, `${root}*.ts`, ...[...shared, ...needs].map((folder) => `${root}${folder}/**`)]
}

/** Globals that reach the outside world. Temporal makes the clock and chance of workflows repeatable, but has no Node globals. */
const OUTSIDE_GLOBALS = ['process', 'fetch', 'crypto', 'performance', 'console', 'Buffer', 'setImmediate'] as const
const TIMERS = ['setTimeout', 'setInterval'] as const
const CLOCK_AND_CHANCE = [
  { object: 'Date', property: 'now', message: 'domain takes the time as an argument' },
  { object: 'Math', property: 'random', message: 'domain takes chance as an argument' },
] as const

export default defineConfig({
  plugins: ['eslint', 'typescript', 'import', 'unicorn', 'oxc', 'promise'],
  options: { typeAware: true, denyWarnings: true, reportUnusedDisableDirectives: 'error' },
  categories: { correctness: 'error' },
  env: { node: true },
  ignorePatterns: ['**/dist/**', 'packages/sdk/src/generated/**', 'tests/workflows/histories/*/**'],
  rules: {
    'typescript/no-floating-promises': 'error',
    'typescript/no-misused-promises': 'error',
    'typescript/await-thenable': 'error',
    'typescript/return-await': ['error', 'error-handling-correctness-only'],
    'typescript/only-throw-error': 'error',
    'typescript/prefer-promise-reject-errors': 'error',
    'typescript/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
    'typescript/no-unnecessary-type-assertion': 'error',
    'typescript/no-explicit-any': 'error',
    'typescript/require-array-sort-compare': ['error', { ignoreStringArrays: true }],
    'typescript/consistent-type-imports': ['error', { disallowTypeAnnotations: false }],
    'typescript/no-import-type-side-effects': 'error',
    'import/no-cycle': ['error', { ignoreTypes: false }],
    'import/no-default-export': 'error',
    'import/no-duplicates': 'error',
    'import/no-self-import': 'error',
    'eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_', caughtErrors: 'all' }],
    'eslint/eqeqeq': 'error',
    'eslint/no-var': 'error',
    'eslint/prefer-const': 'error',
    // These warn of what this code does on purpose: methods of factories use no `this`, text is counted and cut by code
    // points, and anything with a toString may be in a template; spread groups arguments that belong together.
    'typescript/unbound-method': 'off',
    'typescript/no-misused-spread': 'off',
    'typescript/restrict-template-expressions': 'off',
    'unicorn/no-useless-spread': 'off',
    'unicorn/prefer-string-starts-ends-with': 'off',
  },
  overrides: [
    { files: ['*.config.ts'], rules: { 'import/no-default-export': 'off' } },
    {
      files: ['src/*.ts', ...WIRING_FOLDERS.map((folder) => `src/${folder}/**`)],
      rules: {
        'eslint/no-restricted-imports': ['error', { patterns: [{ group: OUTSIDE, message: OUTSIDE_MESSAGE }] }],
      },
    },
    ...FENCES.flatMap(overridesOf),
    ...Object.entries(PACKAGES).flatMap(([name, packages]) =>
      [0, 1, 2, 3].map((depth) => packageOverride(name, packages, depth)),
    ),
    ...[2, 3, 4].map(simulatorOverride),
    {
      files: ['packages/console/src/**'],
      rules: {
        // Its router takes redirects this way.
        'typescript/only-throw-error': [
          'error',
          { allow: [{ from: 'package', package: '@tanstack/router-core', name: 'Redirect' }] },
        ],
      },
    },
    {
      files: ['src/domain/**'],
      rules: {
        'eslint/no-restricted-globals': ['error', ...OUTSIDE_GLOBALS, ...TIMERS],
        'eslint/no-restricted-properties': ['error', ...CLOCK_AND_CHANCE],
      },
    },
    { files: ['src/workflows/**'], rules: { 'eslint/no-restricted-globals': ['error', ...OUTSIDE_GLOBALS] } },
    {
      files: ['tests/**'],
      plugins: ['vitest'],
      rules: {
        'vitest/no-focused-tests': 'error',
        'vitest/no-disabled-tests': 'error',
        'vitest/no-identical-title': 'error',
        // The second argument is the message that a failure inside a loop shows.
        'vitest/valid-expect': ['error', { maxArgs: 2 }],
        // Helpers hold expectations, and property tests expect under conditions that their generators reach.
        'vitest/expect-expect': 'off',
        'vitest/no-conditional-expect': 'off',
        'vitest/require-to-throw-message': 'off',
      },
    },
  ],
})
