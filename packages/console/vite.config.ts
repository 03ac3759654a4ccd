// Builds the console: hashed files, no inline script or style, nothing that the Content-Security-Policy of the engine
// (packages/engine/src/http/console) refuses. Addresses of files are relative, so that the engine can serve them behind a
// path prefix.

import { createHash } from 'node:crypto'
import react from '@vitejs/plugin-react'
import { defaultClientConditions, defineConfig, type Plugin } from 'vite'

/** The modules that the first page needs: the entry, and what it imports. */
let first: ReadonlySet<string> | undefined

interface Modules {
  getModuleInfo(id: string): { importedIds: readonly string[] } | null
}

function firstModules(modules: Modules): ReadonlySet<string> {
  const found = new Set<string>()
  const visit = (id: string): void => {
    if (found.has(id)) return
    found.add(id)
    for (const next of modules.getModuleInfo(id)?.importedIds ?? []) visit(next)
  }
  const entry = `${import.meta.dirname}/src/main.tsx`
  visit(entry)
  return found
}

/** Modules of the query library that its index names, and that the first page does not use. */
const LATER = /\/(useQueries|queriesObserver)\.js$/

/** Parts of the query library and of the client that are left out: what imports them, their names, and what stands for them. */
const LEFT_OUT = [
  // Its client makes a cache of mutations whether or not it is used.
  [/\/query-core\/build\/modern\/queryClient\.js$/, /^\.\/mutationCache\.js$/, 'no-mutation-cache.ts'],
  [/\/query-core\/build\/modern\/(queryClient|retryer)\.js$/, /^\.\/onlineManager\.js$/, 'no-online-watch.ts'],
  [/\/query-core\/build\/modern\/(queryClient|queryObserver|retryer)\.js$/, /^\.\/focusManager\.js$/, 'page-focus.ts'],
  [/\/query-core\/build\/modern\//, /^\.\/timeoutManager\.js$/, 'own-timers.ts'],
  [
    /\/react-query\/build\/modern\/use(BaseQuery|Queries)\.js$/,
    /^\.\/(suspense|errorBoundaryUtils|QueryErrorResetBoundary|IsRestoringProvider)\.js$/,
    'no-suspense.ts',
  ],
  [/\/protocol\/src\/portable\.ts$/, /^\.\/http\/engine-list\.ts$/, 'one-engine.ts'],
] as const

const leftOut: Plugin = {
  name: 'left-out',
  enforce: 'pre',
  resolveId: (source, importer = '') => {
    const found = LEFT_OUT.find(([by, name]) => by.test(importer) && name.test(source))
    return found ? `${import.meta.dirname}/src/data/${found[2]}` : null
  },
}

/** The console's own modules, without those of the page of a run, which are many, and of the editor, which few dialogs open. */
const OWN = /\/packages\/(console|protocol)\/(?!src\/(ui\/editor|routes\/run|waterfall)\/)/

const JSX_RUNTIME = `${import.meta.dirname}/src/ui/jsx-runtime.ts`

/** Our own components have a JSX runtime that draws hidden characters. */
const visibleJsx: Plugin = {
  name: 'visible-jsx',
  enforce: 'pre',
  resolveId: (source, importer = '') =>
    source === 'react/jsx-runtime' && importer.startsWith(`${import.meta.dirname}/src/`) && importer !== JSX_RUNTIME
      ? JSX_RUNTIME
      : null,
}

const COMPILED_AHEAD = '//# allFunctionsCalledOnLoad\n'

/**
 * Has Chromium compile the first script as a whole, beside the main thread, which otherwise compiles each function when it is
 * called first: a fifth of the main thread's time until the first list. Other browsers ignore it.
 */
const compiledAhead: Plugin = {
  name: 'compiled-ahead',
  augmentChunkHash: ({ name }) => (name === 'first' ? COMPILED_AHEAD : undefined),
  generateBundle: {
    // The comment counts on top of the file alone, where Vite puts the names of the other files.
    order: 'post',
    handler(_, bundle) {
      for (const chunk of Object.values(bundle))
        if (chunk.type === 'chunk' && chunk.name === 'first') chunk.code = COMPILED_AHEAD + chunk.code
    },
  },
}

/** The classes of each file of styles, in the order in which they come. */
const classes = new Map<string, Map<string, string>>()

/** A short name for a class of a file: the names of all classes are in the first script. */
function classOf(name: string, file: string): string {
  const own = classes.get(file) ?? new Map<string, string>()
  classes.set(file, own)
  const path = file.slice(import.meta.dirname.length)
  const known =
    own.get(name) ?? `${createHash('sha256').update(path).digest('hex').slice(0, 5)}${own.size.toString(36)}`
  own.set(name, known)
  return `c${known}`
}

export default defineConfig({
  root: import.meta.dirname,
  base: './',
  plugins: [visibleJsx, leftOut, react(), compiledAhead],
  css: { modules: { generateScopedName: classOf } },
  // The sources of the client: of its modules the page gets those that it calls.
  resolve: { conditions: ['perdure-source', ...defaultClientConditions] },
  // Leaves out what the client does on Node alone.
  define: { 'globalThis.process': 'undefined' },
  worker: { format: 'es' },
  logLevel: 'warn',
  build: {
    target: 'es2023',
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    manifest: true,
    license: { fileName: 'THIRD-PARTY-NOTICES.md' },
    rolldownOptions: {
      output: {
        // The first script names every other file: their hashes, which do not compress, are short.
        chunkFileNames: 'assets/[name]-[hash:7].js',
        assetFileNames: 'assets/[name]-[hash:7][extname]',
        codeSplitting: {
          // One file instead of a dozen: fewer requests, and smaller when compressed.
          groups: [
            {
              debugName: 'first',
              name: (id, modules) => {
                first ??= firstModules(modules)
                return first.has(id) && !LATER.test(id) ? 'first' : null
              },
              priority: 1,
            },
            // Parts of several pages: one file that the first of them loads, and short lists of files in the first script.
            { name: 'shared', test: OWN, minShareCount: 2 },
          ],
        },
      },
    },
  },
})
