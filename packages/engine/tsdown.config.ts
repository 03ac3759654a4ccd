// The engine in one file, and its threads in another, with nearly all they stand on: a process that starts from them is
// ready in half the time that loading some 600 modules takes. Made from what `tsc -b` has written.

import { cpSync, readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
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

const { resolve: fileOf } = createRequire(import.meta.url)

/**
 * Some packages load far more than the engine uses of them. The whole of `undici` takes 40 ms to start, and Fastify's compilers of
 * schemas, which no route has, are a tenth of the bundle.
 */
const USED: Readonly<Record<string, string>> = {
  undici: `export { default as Pool } from '${fileOf('undici/lib/dispatcher/pool.js')}'
    export { default as buildConnector } from '${fileOf('undici/lib/core/connect.js')}'`,
  '@fastify/ajv-compiler': 'export default undefined',
  '@fastify/fast-json-stringify-compiler': 'export default undefined',
}

/** Replaces the packages above by what is used of them. The build fails if something else is imported. */
const used = {
  name: 'perdure-used',
  resolveId: (id: string) => (id in USED ? `\0${id}` : undefined),
  load: (id: string) => USED[id.slice(1)],
}

export default defineConfig(
  program({
    home: here,
    entry: {
      index: resolve(here, 'dist/index.js'),
      // Without the engine itself, which it loads later.
      serve: resolve(here, 'dist/process/serve.js'),
      // Next to the others, where the engine looks for it.
      thread: resolve(here, 'dist/adapters/sql/sqlite/thread.js'),
    },
    plugins: [docs, used],
    // One has native code; of the other every copy must be the same as the user's.
    neverBundle: ['@photostructure/sqlite', '@opentelemetry/api', 'pg-native'],
  }),
)
