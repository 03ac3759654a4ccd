// The build of a published library: every entry of `exports` as ESM and as CommonJS, each with its types. Code is
// bundled from the sources, types from the declarations that `tsc -b` has written to `build`. The protocol is bundled
// in. Used by the tsdown.config.ts of the SDK and of the client.

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import type { UserConfig } from 'tsdown'
import { flatTypes } from './flat-types.ts'

export interface Library {
  /** Folder of the package. */
  home: string
  /** `neutral`: the code needs no Node API. */
  platform: 'node' | 'neutral'
  /**
   * Declarations that are written out in full, by the name that other declarations import them by: their types derive from
   * schemas, and the published types must not require the schema library.
   */
  flat: Readonly<Record<string, readonly string[]>>
  /** Source of the bundle that browsers get instead of the main entry. */
  browser?: string
}

/** Returns the configurations that build a library. */
export function library({ home, platform, flat, browser }: Library): UserConfig[] {
  const { exports } = JSON.parse(readFileSync(resolve(home, 'package.json'), 'utf8')) as {
    exports: Record<string, { 'perdure-source'?: string }>
  }
  const sources = Object.entries(exports).flatMap(([subpath, { 'perdure-source': source }]) =>
    source ? [{ name: subpath === '.' ? 'index' : basename(subpath), source }] : [],
  )
  /** Returns the entries by name. `at` maps each source to the bundled file. */
  const entries = (at: (source: string) => string) =>
    Object.fromEntries(sources.map(({ name, source }) => [name, at(source)]))
  const shared: UserConfig = {
    cwd: home,
    outDir: 'dist',
    // Files are replaced, not removed first, so that processes that start during a build find them. Publishing uses `--clean`.
    clean: false,
    platform,
    target: 'node20.19',
    hash: false,
    fixedExtension: false,
    report: false,
    logLevel: 'error',
    checks: { pluginTimings: false },
    deps: { alwaysBundle: [/^@perdure\/protocol/], onlyBundle: [] },
  }
  return [
    {
      ...shared,
      name: 'code',
      entry: entries(source => source),
      format: ['esm', 'cjs'],
      outExtensions: ({ format }) => ({ js: format === 'cjs' ? '.cjs' : '.js' }),
      dts: false,
      inputOptions: { resolve: { conditionNames: ['perdure-source', 'node', 'import', 'default'] } },
    },
    ...(browser === undefined ? [] : [browserBundle(shared, browser)]),
    {
      ...shared,
      name: 'types',
      entry: { ...entries(declared), ...(browser === undefined ? {} : { browser: declared(browser) }) },
      format: 'esm',
      dts: { dtsInput: true, emitDtsOnly: true, sourcemap: false },
      outExtensions: () => ({ js: '.js', dts: '.d.ts' }),
      plugins: [declarations(home, flat)],
      hooks: { 'build:done': () => writeCommonJsTypes(resolve(home, 'dist')) },
    },
  ]
}

/** Returns the declarations that `tsc -b` has written for a source. */
function declared(source: string): string {
  return source.replace('./src/', './build/').replace(/\.ts$/, '.d.ts')
}

/** One file that shares nothing with the other entries: those import modules that browsers lack. */
function browserBundle(shared: UserConfig, source: string): UserConfig {
  return {
    ...shared,
    name: 'browser',
    platform: 'browser',
    entry: { browser: source },
    format: 'esm',
    dts: false,
    treeshake: { moduleSideEffects: 'no-external' },
    inputOptions: { resolve: { conditionNames: ['perdure-source', 'browser', 'import', 'default'] } },
  }
}

/** Resolves imports between declarations, which name sources (`./errors.ts`), and writes out the flat ones. */
function declarations(home: string, flat: Library['flat']) {
  const flatFiles = Object.entries(flat).map(([name, parts]) => ({
    name,
    files: parts.map(part => resolve(home, part)),
  }))
  const filesOf = (id: string) => flatFiles.find(({ files }) => files[0] === id)?.files
  return {
    name: 'perdure-declarations',
    resolveId(id: string, importer: string | undefined) {
      const named = flatFiles.find(({ name }) => name === id)
      if (named) return named.files[0] as string
      if (!importer || !id.startsWith('.') || !id.endsWith('.ts') || id.endsWith('.d.ts')) return null
      const declaration = resolve(dirname(importer), id.replace(/\.ts$/, '.d.ts'))
      return existsSync(declaration) ? declaration : null
    },
    load(id: string) {
      const files = filesOf(id)
      return files ? flatTypes(files) : null
    },
  }
}

/** Writes the types of the CommonJS files: the same text with imports of CommonJS files. The package `ai` has only ES modules. */
function writeCommonJsTypes(directory: string): void {
  for (const name of readdirSync(directory).filter(name => name.endsWith('.d.ts'))) {
    const text = readFileSync(resolve(directory, name), 'utf8')
    const neighbours = text.replace(/(from "\.\/[^"]+)\.js"/g, '$1.cjs"')
    const types = neighbours.replace(
      /^import (\{[^}]*\}) from "ai";$/gm,
      'import type $1 from "ai" with { "resolution-mode": "import" };',
    )
    writeFileSync(resolve(directory, name.replace(/\.d\.ts$/, '.d.cts')), types)
  }
}
