// The engine in one file, and its threads in another, with nearly all they stand on: a process that starts from them is
// ready in half the time that loading some 600 modules takes. Made from what `tsc -b` has written.

import { cpSync, readdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { defineConfig } from 'tsdown'
import { program } from '../../scripts/library/program.ts'

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

export default defineConfig(
  program({
    home: here,
    entry: {
      index: resolve(here, 'dist/index.js'),
      // Without the engine itself, which its thread loads.
      serve: resolve(here, 'dist/process/serve.js'),
      // Beside it, where the one looks for the others.
      'engine-thread': resolve(here, 'dist/process/engine-thread.js'),
      thread: resolve(here, 'dist/adapters/sql/sqlite/thread.js'),
    },
    plugins: [docs],
    // One has native code; of the other every copy must be the same as the user's.
    neverBundle: ['@photostructure/sqlite', '@opentelemetry/api', 'pg-native'],
  }),
)
