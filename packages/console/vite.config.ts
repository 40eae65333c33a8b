import react from '@vitejs/plugin-react'
import { defaultClientConditions, defineConfig } from 'vite'

export default defineConfig({
  plugins: [react()],
  // The SDK's sources, so that it needs no build of its own.
  resolve: { conditions: ['postonce-source', ...defaultClientConditions] },
  // A strict Content-Security-Policy allows no data: addresses of scripts and styles.
  build: { target: 'es2023', assetsInlineLimit: 0 },
})
