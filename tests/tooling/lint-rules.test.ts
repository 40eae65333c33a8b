import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** A rule, and a file with a line of code that the rule must report. */
type Snippet = [rule: string, file: string, source: string]

const IMPORTS = 'no-restricted-imports'

const FORBIDDEN: Snippet[] = [
  [IMPORTS, 'src/knows-sdk.ts', `import { createClient } from '@postonce/sdk'`],
  [IMPORTS, 'src/api/posts/knows-sdk.ts', `import { createClient } from '@postonce/sdk'`],
  [IMPORTS, 'src/platforms/knows-sdk.ts', `import { createClient } from '@postonce/sdk'`],
  [IMPORTS, 'src/api/knows-packages.ts', `import { createClient } from '../../packages/sdk/src/client.ts'`],
  [IMPORTS, 'packages/sdk/src/knows-node.ts', `import { readFile } from 'node:fs/promises'`],
  [IMPORTS, 'packages/cli/src/knows-service.ts', `import { PLATFORMS } from '../../../src/domain/shared/platforms.ts'`],
  [IMPORTS, 'packages/mcp/src/tools/knows-sdk-files.ts', `import { sleep } from '../../../sdk/src/sleep.ts'`],
  [IMPORTS, 'packages/mcp/src/knows-express.ts', `import express from 'express'`],
  [IMPORTS, 'packages/cli/src/commands/knows-sdk-files.ts', `import { sleep } from '../../../sdk/src/sleep.ts'`],
  [IMPORTS, 'packages/console/src/knows-node.ts', `import { readFile } from 'node:fs/promises'`],
  [IMPORTS, 'packages/console/src/pages/knows-package.tsx', `import axios from 'axios'`],
  [
    IMPORTS,
    'packages/console/src/pages/posts/knows-service.tsx',
    `import { PLATFORMS } from '../../../../../src/domain/shared/platforms.ts'`,
  ],
  [
    IMPORTS,
    'packages/console/src/pages/posts/knows-sdk-files.ts',
    `import { sleep } from '../../../../sdk/src/sleep.ts'`,
  ],

  [IMPORTS, 'sandbox/platforms/knows-rules.ts', `import { countText } from '../../src/domain/posts/posting-rules.ts'`],
  [IMPORTS, 'sandbox/platforms/a/knows-links.ts', `import { findLinks } from '../../../src/domain/shared/links.ts'`],
  [IMPORTS, 'sandbox/platforms/a/b/knows-adapter.ts', `import { read } from '../../../../src/platforms/a/html.ts'`],
  [IMPORTS, 'sandbox/services/knows-store.ts', `import type { Posts } from '../../src/store/posts/posts.ts'`],

  [IMPORTS, 'src/domain/knows-store.ts', `import type { Posts } from '../store/posts/posts.ts'`],
  [IMPORTS, 'src/domain/knows-node.ts', `import { randomUUID } from 'node:crypto'`],
  [IMPORTS, 'src/domain/knows-package.ts', `import { Type } from '@sinclair/typebox'`],
  [IMPORTS, 'src/domain/knows-clock.ts', `import type { Clock } from '../clock.ts'`],
  [IMPORTS, 'src/domain/re-exports.ts', `export { openDatabase } from '../store/shared/database.ts'`],
  [IMPORTS, 'src/domain/loads-late.ts', `export const load = async () => await import('../store/shared/database.ts')`],
  ['no-restricted-properties', 'src/domain/reads-time.ts', `export const now = () => Date.now()`],
  ['no-restricted-properties', 'src/domain/throws-dice.ts', `export const dice = () => Math.random()`],
  ['no-restricted-globals', 'src/domain/reads-environment.ts', `export const debug = process.env['DEBUG']`],

  [IMPORTS, 'src/domain/accounts/knows-captions.ts', `import { draft } from '../captions/captions.ts'`],

  [IMPORTS, 'src/flow/knows-posts.ts', `import { rollUp } from '../domain/posts/post-entries.ts'`],

  [IMPORTS, 'src/workflows/knows-node.ts', `import { readFile } from 'node:fs/promises'`],
  [IMPORTS, 'src/workflows/knows-bare-node.ts', `import { readFileSync } from 'fs'`],
  [IMPORTS, 'src/workflows/calls-activity.ts', `import { createActivities } from '../activities/index.ts'`],
  [IMPORTS, 'src/workflows/knows-store.ts', `import type { Posts } from '../store/posts/posts.ts'`],
  [IMPORTS, 'src/workflows/knows-platforms.ts', `import { PlatformError } from '../platforms/errors.ts'`],
  [IMPORTS, 'src/workflows/knows-config.ts', `import type { Config } from '../config/schema.ts'`],
  [IMPORTS, 'src/workflows/knows-client.ts', `import type { Client } from '@temporalio/client'`],
  [IMPORTS, 'src/workflows/billing/knows-publishing.ts', `import { publishPost } from '../publishing/publish-post.ts'`],
  ['no-restricted-globals', 'src/workflows/reads-environment.ts', `export const debug = process.env['DEBUG']`],

  [IMPORTS, 'src/activities/knows-fastify.ts', `import type { FastifyInstance } from 'fastify'`],
  [IMPORTS, 'src/activities/knows-api.ts', `import { buildApp } from '../api/app.ts'`],
  [
    IMPORTS,
    'src/activities/calls-workflow.ts',
    `import { publishPost } from '../workflows/publishing/publish-post.ts'`,
  ],
  [IMPORTS, 'src/activities/opens-store.ts', `import { createPostStore } from '../store/posts/posts.ts'`],
  [IMPORTS, 'src/activities/opens-adapter.ts', `import { createRegistry } from '../platforms/registry.ts'`],
  [
    IMPORTS,
    'src/activities/opens-storage.ts',
    `import { createObjectStorage } from '../integrations/storage/storage.ts'`,
  ],
  [IMPORTS, 'src/activities/builds-context.ts', `import { createContext } from '../context.ts'`],

  [IMPORTS, 'src/commands/knows-fastify.ts', `import type { FastifyRequest } from 'fastify'`],
  [IMPORTS, 'src/commands/knows-atproto.ts', `import { RichText } from '@atproto/api'`],
  [IMPORTS, 'src/commands/knows-temporal.ts', `import type { Client } from '@temporalio/client'`],
  [IMPORTS, 'src/commands/knows-driver.ts', `import mongoose from 'mongoose'`],
  [
    IMPORTS,
    'src/commands/opens-storage.ts',
    `import { createObjectStorage } from '../integrations/storage/storage.ts'`,
  ],
  [IMPORTS, 'src/commands/knows-api.ts', `import { ok } from '../api/shared/schemas/envelope.ts'`],
  [IMPORTS, 'src/commands/builds-context.ts', `import { createContext } from '../context.ts'`],
  [IMPORTS, 'src/commands/knows-context.ts', `import type { Context } from '../context.ts'`],
  [IMPORTS, 'src/commands/knows-config.ts', `import type { Config } from '../config/schema.ts'`],

  [IMPORTS, 'src/api/knows-temporal.ts', `import { Client } from '@temporalio/client'`],
  [IMPORTS, 'src/api/posts/knows-temporal.ts', `import type { Client } from '@temporalio/client'`],
  [IMPORTS, 'src/api/posts/knows-driver.ts', `import { Types } from 'mongoose'`],
  [IMPORTS, 'src/api/posts/knows-storage.ts', `import { S3Client } from '@aws-sdk/client-s3'`],
  [IMPORTS, 'src/api/posts/opens-adapter.ts', `import { createRegistry } from '../../platforms/registry.ts'`],
  [
    IMPORTS,
    'src/api/posts/starts-workflow.ts',
    `import { publishPost } from '../../workflows/publishing/publish-post.ts'`,
  ],
  [IMPORTS, 'src/api/posts/calls-activity.ts', `import type { Activities } from '../../activities/index.ts'`],
  [IMPORTS, 'src/api/builds-context.ts', `import { createContext } from '../context.ts'`],

  [IMPORTS, 'src/platforms/bluesky/knows-store.ts', `import type { Posts } from '../../store/posts/posts.ts'`],
  [IMPORTS, 'src/platforms/bluesky/knows-config.ts', `import type { Config } from '../../config/schema.ts'`],
  [IMPORTS, 'src/platforms/bluesky/knows-mastodon.ts', `import { statusUrl } from '../mastodon/adapter.ts'`],
  [
    IMPORTS,
    'src/platforms/bluesky/knows-storage.ts',
    `import type { Storage } from '../../integrations/storage/storage.ts'`,
  ],
  [IMPORTS, 'src/platforms/knows-commands.ts', `import { createPost } from '../commands/posts/create-post.ts'`],

  [IMPORTS, 'src/integrations/knows-store.ts', `import type { Posts } from '../store/posts/posts.ts'`],
  [IMPORTS, 'src/integrations/knows-config.ts', `import type { Config } from '../config/schema.ts'`],
  [IMPORTS, 'src/integrations/knows-platforms.ts', `import type { MediaSource } from '../platforms/contract.ts'`],
  [IMPORTS, 'src/integrations/mail/knows-push.ts', `import { sendPush } from '../push/push.ts'`],
  [
    IMPORTS,
    'src/integrations/runs-workflow.ts',
    `import { publishPost } from '../workflows/publishing/publish-post.ts'`,
  ],

  [IMPORTS, 'src/store/knows-config.ts', `import type { Config } from '../config/schema.ts'`],
  [IMPORTS, 'src/store/knows-commands.ts', `import { createPost } from '../commands/posts/create-post.ts'`],

  [IMPORTS, 'src/knows-sandbox.ts', `import { startServers } from '../sandbox/servers/index.ts'`],
  [IMPORTS, 'src/knows-tests.ts', `import { testContext } from '../tests/support/servers.ts'`],
  [IMPORTS, 'src/knows-bench.ts', `import { table } from '../bench/report.ts'`],
  [IMPORTS, 'src/api/posts/knows-sandbox.ts', `import type { World } from '../../../sandbox/main.ts'`],
  [IMPORTS, 'src/platforms/bluesky/knows-tests.ts', `import { aPost } from '../../../tests/support/builders.ts'`],

  ['no-floating-promises', 'src/floats.ts', `const later = async () => 1\nlater()`],
  ['no-floating-promises', 'tests/floats.ts', `const later = async () => 1\nlater()`],
  ['no-misused-promises', 'src/misuses.ts', `export const odd = [1].filter(async (n) => n > 0)`],
  [
    'consistent-type-imports',
    'src/imports-type-as-value.ts',
    `import { Stats } from 'node:fs'\nexport const s: Stats[] = []`,
  ],
  ['no-default-export', 'src/exports-default.ts', `export default 1`],
  ['no-unused-vars', 'src/unused.ts', `const forgotten = 1\nexport {}`],
  ['no-cycle', 'src/cycle-a.ts', `import { b } from './cycle-b.ts'\nexport const a = () => b`],
  ['no-cycle', 'src/cycle-b.ts', `import { a } from './cycle-a.ts'\nexport const b = () => a`],
  ['no-focused-tests', 'tests/focused.test.ts', `import { test } from 'vitest'\ntest.only('x', () => {})`],
]

const ALLOWED: [file: string, source: string][] = [
  [
    'src/domain/fine.ts',
    `import { platformLabel } from './shared/platforms.ts'\nimport { Temporal } from '@js-temporal/polyfill'`,
  ],
  [
    'src/workflows/fine.ts',
    `import { sleep } from '@temporalio/workflow'\nimport { rollUp } from '../domain/posts/post-entries.ts'\nimport type { Activities } from '../activities/index.ts'\nimport { TASK_QUEUES } from './contract/task-queues.ts'\nexport const now = () => Date.now()`,
  ],
  [
    'src/activities/fine.ts',
    `import { heartbeat } from '@temporalio/activity'\nimport type { PostStore } from '../store/posts/posts.ts'\nimport type { Context } from '../context.ts'\nimport { createPost } from '../commands/posts/create-post.ts'\nimport { publishPostWorkflowId } from '../workflows/contract/publishing.ts'\nimport { PlatformError } from '../platforms/errors.ts'`,
  ],
  [
    'src/commands/fine.ts',
    `import { randomBytes } from 'node:crypto'\nimport { newId } from '../store/shared/schema.ts'\nimport type { ObjectStorage } from '../integrations/storage/storage.ts'\nimport type { Logger } from '../logger.ts'\nimport { withDeadline } from '../flow/deadlines.ts'\nimport { publishPostWorkflowId } from '../workflows/contract/publishing.ts'`,
  ],
  [
    'src/api/posts/fine.ts',
    `import { Type } from '@sinclair/typebox'\nimport type { FastifyPluginAsync } from 'fastify'\nimport type { Context } from '../../context.ts'\nimport { createPost } from '../../commands/posts/create-post.ts'\nimport { ok } from '../shared/schemas/envelope.ts'\nimport { present } from './present.ts'\nimport type { Posts } from '../../store/posts/posts.ts'`,
  ],
  [
    'src/api/fine.ts',
    `import { platformRoutes } from './platforms/routes.ts'\nimport type { Context } from '../context.ts'`,
  ],
  [
    'src/platforms/bluesky/fine.ts',
    `import { RichText } from '@atproto/api'\nimport type { Post } from '../../domain/posts/post.ts'\nimport { PlatformError } from '../errors.ts'\nimport { http } from '../shared/http.ts'\nimport { facets } from './facets.ts'`,
  ],
  [
    'src/domain/captions/fine.ts',
    `import { draft } from './captions.ts'\nimport { platformLabel } from '../shared/platforms.ts'\nimport { countOf } from '../posts/posting-rules.ts'`,
  ],
  ['src/platforms/registry.ts', `import { createBluesky } from './bluesky/adapter.ts'`],
  [
    'src/integrations/fine.ts',
    `import { Client } from '@temporalio/client'\nimport { publishPostWorkflowId } from '../workflows/contract/publishing.ts'\nimport type { Post } from '../domain/posts/post.ts'`,
  ],
  ['src/store/fine.ts', `import { Schema } from 'mongoose'\nimport type { Post } from '../domain/posts/post.ts'`],
  ['src/server.ts', `import { createContext } from './context.ts'\nimport { buildApp } from './api/app.ts'`],
  [
    'packages/sdk/src/fine.ts',
    `import type { paths } from './generated/schema.ts'\nimport { sleep } from './sleep.ts'`,
  ],
  [
    'packages/cli/src/commands/fine.ts',
    `import { openAsBlob } from 'node:fs'\nimport { createClient } from '@postonce/sdk'\nimport { Command } from 'commander'\nimport { EXIT } from '../exit-codes.ts'\nimport { PLATFORMS } from './platforms.ts'`,
  ],
  [
    'packages/mcp/src/tools/fine.ts',
    `import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'\nimport { createClient } from '@postonce/sdk'\nimport * as z from 'zod/v4'\nimport { TOOLS } from '../tools.ts'`,
  ],
  [
    'packages/console/src/pages/posts/fine.tsx',
    `import { Button } from '@mantine/core'\nimport { useState } from 'react'\nimport { createRoot } from 'react-dom/client'\nimport utc from 'dayjs/plugin/utc.js'\nimport { createClient } from '@postonce/sdk'\nimport { client } from '../../session/session.ts'\nimport { PostList } from './post-list.tsx'\nimport { theme } from '../../theme.ts'`,
  ],
  ['sandbox/fine.ts', `import { readConfig } from '../src/config/schema.ts'`],
  [
    'sandbox/platforms/threads/fine.ts',
    `import { PLATFORMS } from '../../../src/domain/shared/platforms.ts'\nimport { one } from './one.ts'\nimport { startDemo } from '../../demo/seed.ts'`,
  ],
]

let folder = ''
let found: { rule: string; file: string }[] = []

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'postonce-lint-'))
  for (const name of ['oxlint.config.ts', 'tsconfig.json', 'package.json', '.gitignore']) {
    await cp(join(ROOT, name), join(folder, name))
  }
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  for (const [, file, source] of FORBIDDEN) await write(file, source)
  for (const [file, source] of ALLOWED) await write(file, source)
  found = await lint()
})

afterAll(async () => {
  await rm(folder, { recursive: true, force: true })
})

async function write(file: string, source: string) {
  await mkdir(dirname(join(folder, file)), { recursive: true })
  await writeFile(join(folder, file), `${source}\n`)
}

/** Runs the linter like `npm run check`, with the project's configuration, on the snippets only. */
async function lint() {
  const cli = join(ROOT, 'node_modules/oxlint/bin/oxlint')
  const output = await new Promise<string>((resolve, reject) => {
    execFile(
      process.execPath,
      [cli, '--format=json', 'src', 'sandbox', 'tests', 'packages'],
      { cwd: folder, maxBuffer: 16 * 2 ** 20 },
      (error, stdout, stderr) => {
        if (stdout.startsWith('{')) resolve(stdout)
        else reject(new Error(`${stdout}${stderr}`, { cause: error }))
      },
    )
  })
  const { diagnostics } = JSON.parse(output) as { diagnostics: { code: string; filename: string }[] }
  return diagnostics.map(({ code, filename }) => ({ rule: code.replace(/^.*\((.*)\)$/, '$1'), file: filename }))
}

const rulesIn = (file: string) => found.filter((hit) => hit.file === file).map((hit) => hit.rule)

describe('forbidden code', () => {
  test.each(FORBIDDEN)('the linter reports %s in %s', (rule, file) => {
    expect(rulesIn(file)).toContain(rule)
  })
})

describe('allowed code', () => {
  test.each(ALLOWED)('the linter accepts the imports of %s', (file) => {
    expect(rulesIn(file).filter((rule) => rule !== 'no-unused-vars')).toEqual([])
  })
})
