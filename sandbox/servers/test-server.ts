import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isExecutable, run } from '../../scripts/provision.mjs'
import { findOrFetch, type Source } from './find-or-fetch.ts'
import { assertTool, temporalDownload } from './sources.ts'

const VERSION = '1.38.0'
const PROGRAM = 'temporal-test-server'

/**
 * Temporal's server that skips time, for workflow tests. The SDK starts and stops it with
 * `executable: { type: 'existing-path', path }`.
 */
export function findTestServer(): Promise<string> {
  return findOrFetch({
    title: "Temporal's time-skipping test server",
    program: PROGRAM,
    version: VERSION,
    variable: 'POSTONCE_TEST_SERVER',
    // It has no `--version`; its only argument is a port.
    probe: async (path) => {
      if (!isExecutable(path)) throw new Error('is not a program')
    },
    sources: [temporalDownload(`${PROGRAM}/v${VERSION}`, '', PROGRAM), mavenArtifact],
    advice: 'install Java 17 or newer and Maven.',
  })
}

const mavenArtifact: Source = {
  title: 'Maven (about 20 s the first time)',
  async fetch(folder) {
    assertTool('java', 'a Java runtime')
    assertTool('mvn', 'Maven')
    const pom = join(folder, 'pom.xml')
    writeFileSync(pom, POM)
    await run('mvn', [
      ...['-B', '-q', '-f', pom, 'dependency:copy-dependencies'],
      ...['-DincludeScope=runtime', `-DoutputDirectory=${join(folder, 'lib')}`],
    ])
    writeFileSync(join(folder, PROGRAM), LAUNCHER, { mode: 0o755 })
  },
}

const POM = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>postonce</groupId>
  <artifactId>test-server</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>io.temporal</groupId>
      <artifactId>temporal-test-server</artifactId>
      <version>${VERSION}</version>
      <scope>runtime</scope>
    </dependency>
  </dependencies>
</project>
`

/** Must \`exec\`: the SDK kills the process it started and then waits for its pipes to close. */
const LAUNCHER = `#!/bin/sh
lib="$(cd "$(dirname "$0")" && pwd)/lib"
exec java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -cp "$lib/*" io.temporal.testserver.TestServer "$1"
`
