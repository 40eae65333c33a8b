import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { defaultClientConditions, defineConfig, type Plugin } from 'vite'

/** Compresses each file once, in the build. Servers send the file with the ending `.gz` in its place. */
const compression: Plugin = {
  name: 'compression',
  apply: 'build',
  writeBundle({ dir = '' }, bundle) {
    for (const file of Object.keys(bundle).filter((name) => /\.(js|css)$/.test(name))) {
      writeFileSync(join(dir, `${file}.gz`), gzipSync(readFileSync(join(dir, file)), { level: 9 }))
    }
  },
}

/** Fills in the address of the API, as the servers of the built page do. `npm run console` sets it. */
const apiAddress: Plugin = {
  name: 'api-address',
  apply: 'serve',
  transformIndexHtml: (page) =>
    page.replace('<meta name="api" content=""', `<meta name="api" content="${process.env['API_URL'] ?? ''}"`),
}

export default defineConfig({
  plugins: [react(), compression, apiAddress],
  // The SDK's sources, so that it needs no build of its own.
  resolve: { conditions: ['postonce-source', ...defaultClientConditions] },
  // A strict Content-Security-Policy allows no data: addresses of scripts and styles. The manifest lists what the first page loads.
  build: { target: 'es2023', assetsInlineLimit: 0, manifest: true },
})
