import type { TestProject } from 'vitest/node'
import { findTestServer } from '../../sandbox/servers/test-server.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The path of the time-skipping server: `createTimeSkipping({ server: { executable: { type: 'existing-path', path } } })`. */
    testServer: string
  }
}

export async function setup(project: TestProject): Promise<void> {
  project.provide('testServer', await findTestServer())
}
