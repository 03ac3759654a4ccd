// Builds the published package: every entry of `exports` as ESM and as CommonJS, each with its types. Code is bundled
// from the sources, types from the declarations that `tsc -b` has written to `build`. The protocol is bundled in.

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { defineConfig, type UserConfig } from 'tsdown'
import { flatTypes } from './flat-types.ts'

const here = import.meta.dirname
const { exports } = JSON.parse(readFileSync(resolve(here, 'package.json'), 'utf8')) as {
  exports: Record<string, { 'perdure-source': string }>
}
const sources = Object.entries(exports).map(([subpath, conditions]) => ({
  name: subpath === '.' ? 'index' : basename(subpath),
  source: conditions['perdure-source'],
}))

/** Returns the entries by name. `at` maps each source to the bundled file. */
const entries = (at: (source: string) => string) =>
  Object.fromEntries(sources.map(({ name, source }) => [name, at(source)]))

const shared: UserConfig = {
  cwd: here,
  outDir: 'dist',
  // Files are replaced and not removed first, so that processes that start during a build find them. Publishing uses
  // `--clean`.
  clean: false,
  platform: 'node',
  target: 'node20.19',
  hash: false,
  fixedExtension: false,
  report: false,
  logLevel: 'error',
  checks: { pluginTimings: false },
  deps: { alwaysBundle: ['@perdure/protocol'], onlyBundle: [] },
}

const protocol = resolve(here, '../protocol/dist/index.d.ts')

/** Resolves imports between declarations, which name sources (`./errors.ts`), and writes out the protocol's types. */
const declarations = {
  name: 'perdure-declarations',
  resolveId(id: string, importer: string | undefined) {
    if (id === '@perdure/protocol') return protocol
    if (!importer || !id.startsWith('.') || !id.endsWith('.ts') || id.endsWith('.d.ts')) return null
    const declared = resolve(dirname(importer), id.replace(/\.ts$/, '.d.ts'))
    return existsSync(declared) ? declared : null
  },
  load(id: string) {
    return id === protocol ? flatTypes(id) : null
  },
}

/** Writes the types of the CommonJS files: the same text with imports of CommonJS files. */
function writeCommonJsTypes(): void {
  const directory = resolve(here, 'dist')
  for (const name of readdirSync(directory).filter(name => name.endsWith('.d.ts'))) {
    const text = readFileSync(resolve(directory, name), 'utf8')
    const neighbours = text.replace(/(from "\.\/[^"]+)\.js"/g, '$1.cjs"')
    writeFileSync(resolve(directory, name.replace(/\.d\.ts$/, '.d.cts')), neighbours)
  }
}

export default defineConfig([
  {
    ...shared,
    name: 'code',
    entry: entries(source => source),
    format: ['esm', 'cjs'],
    dts: false,
    inputOptions: { resolve: { conditionNames: ['perdure-source', 'node', 'import', 'default'] } },
  },
  {
    ...shared,
    name: 'types',
    entry: entries(source => source.replace('./src/', './build/').replace(/\.ts$/, '.d.ts')),
    format: 'esm',
    dts: { dtsInput: true, emitDtsOnly: true, sourcemap: false },
    plugins: [declarations],
    hooks: { 'build:done': writeCommonJsTypes },
  },
])
