// Builds the console: hashed files, no inline script or style, nothing that the Content-Security-Policy of the engine
// (packages/engine/src/http/console) refuses. Addresses of files are relative, so that the engine can serve them behind a
// path prefix.

import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

export default defineConfig({
  root: import.meta.dirname,
  base: './',
  plugins: [react()],
  worker: { format: 'es' },
  logLevel: 'warn',
  build: {
    target: 'es2023',
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    manifest: true,
    license: { fileName: 'THIRD-PARTY-NOTICES.md' },
  },
})
