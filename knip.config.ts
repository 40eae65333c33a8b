import type { KnipConfig } from 'knip'

const config: KnipConfig = {
  workspaces: {
    '.': {
      entry: [
        'src/{server,worker}.ts',
        'src/cli/{setup,admin,worker-health,bundle-workflows}.ts',
        'sandbox/main.ts',
        'bench/main.ts',
        // Started as processes, and read by Temporal's bundler.
        'bench/processes/*.ts',
        'bench/workflows/*.ts',
        'scripts/*.{ts,mjs}',
        'tests/**/*.test.ts',
        'tests/support/{*-setup,read-hostile-responses}.ts',
        'tests/workflows/histories/record.ts',
        'tests/faults/chaos.ts',
        'tests/simulation/main.ts',
        'tests/faults/faulty-names.ts',
        '*.config.ts',
      ],
      project: ['{src,sandbox,bench,scripts,tests}/**/*.{ts,mjs}', '*.ts'],
      ignoreDependencies: [
        // Read as a text, which tests of the browser evaluate.
        'axe-core',
        // Both are loaded by the client that a test generates.
        'openapi-fetch',
        'typescript-5',
        // The one copy of version 8 that @temporalio needs at the top of the tree to replay histories from JSON.
        'protobufjs',
      ],
    },
    'packages/sdk': { entry: ['src/index.ts'], project: ['src/**/*.ts'], ignore: ['src/generated/schema.ts'] },
    'packages/console': { entry: ['src/main.tsx'], project: ['src/**/*.{ts,tsx}'] },
    'packages/*': { entry: ['src/main.ts', 'bin/*.js'], project: ['src/**/*.ts', 'bin/*.js'] },
  },
  ignoreExportsUsedInFile: true,
}

export default config
