// Bundles the page for browsers. Called by the server when it opens.

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const FOLDER = fileURLToPath(new URL('.', import.meta.url))

export interface PageFile {
  type: string
  body: string
}

/** Returns the files of the page by their paths. The page reads the engine's URL from its head. */
export async function bundlePage(engineUrl: string): Promise<ReadonlyMap<string, PageFile>> {
  const { outputFiles } = await build({
    entryPoints: [`${FOLDER}page.tsx`, `${FOLDER}page.css`],
    bundle: true,
    minify: true,
    format: 'esm',
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"production"' },
    outdir: FOLDER,
    write: false,
  })
  const bodyOf = (ending: string) => outputFiles.find(({ path }) => path.endsWith(ending))?.text ?? ''
  const html = readFileSync(`${FOLDER}index.html`, 'utf8').replace('ENGINE_URL', encodeURI(engineUrl))
  return new Map([
    ['/', { type: 'text/html; charset=utf-8', body: html }],
    ['/page.js', { type: 'text/javascript; charset=utf-8', body: bodyOf('.js') }],
    ['/page.css', { type: 'text/css; charset=utf-8', body: bodyOf('.css') }],
  ])
}
