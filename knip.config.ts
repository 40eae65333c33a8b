import type { KnipConfig } from 'knip'

const config: KnipConfig = {
  entry: [
    'src/{server,worker,setup,admin}.ts',
    // Every function it exports is a workflow type, found by Temporal's bundler.
    'src/workflows/index.ts',
    'sandbox/main.ts',
    'bench/main.ts',
    'scripts/*.{ts,mjs}',
    'tests/**/*.test.ts',
    'tests/support/*-setup.ts',
    '*.config.ts',
  ],
  project: ['{src,sandbox,bench,scripts,tests}/**/*.{ts,mjs}', '*.ts'],
  ignoreDependencies: [
    // The one copy of version 8 that @temporalio needs at the top of the tree to replay histories from JSON.
    'protobufjs',
  ],
  ignoreExportsUsedInFile: true,
}

export default config
