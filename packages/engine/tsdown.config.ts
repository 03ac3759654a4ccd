// The engine in one file, and its threads in another, with nearly all they stand on: a process that starts from them is
// ready in half the time that loading some 600 modules takes. Made from what `tsc -b` has written.

import { cpSync, readdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { defineConfig } from 'tsdown'
import { thirdPartyNotices } from './third-party-notices.ts'

const here = import.meta.dirname

/** Puts the pages of the documentation beside the bundle: the MCP server reads them. */
const docs = {
  name: 'perdure-docs',
  writeBundle() {
    const from = resolve(here, '../../docs')
    for (const name of readdirSync(from)) {
      if (name.endsWith('.md')) cpSync(resolve(from, name), resolve(here, 'dist/bundle/docs', name))
    }
  },
}

export default defineConfig({
  cwd: here,
  entry: {
    index: resolve(here, 'dist/index.js'),
    // Without the engine itself, which its thread loads.
    serve: resolve(here, 'dist/process/serve.js'),
    // Beside it, where the one looks for the others.
    'engine-thread': resolve(here, 'dist/process/engine-thread.js'),
    thread: resolve(here, 'dist/adapters/sql/sqlite/thread.js'),
  },
  outDir: 'dist/bundle',
  // Files are replaced, not taken away first: processes that start meanwhile find them.
  clean: false,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  hash: false,
  fixedExtension: false,
  dts: false,
  report: false,
  logLevel: 'error',
  plugins: [thirdPartyNotices, docs],
  checks: { pluginTimings: false },
  // One has native code; of the other every copy must be the same as the user's.
  deps: { alwaysBundle: [/.*/], neverBundle: ['@photostructure/sqlite', '@opentelemetry/api', 'pg-native'] },
})
