// Builds the console and puts it, with its files compressed, beside the engine's bundle. Fails when a bound of its size is
// exceeded: the script and the styles of the first page, and all files together.

import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { build } from 'vite'

const SCRIPT_KB_MAX = 110
const STYLES_KB_MAX = 14
const ALL_KB_MAX = 1320

const here = new URL('./', import.meta.url)
const dist = new URL('dist/', here)
const target = new URL('../engine/dist/bundle/console/', here)

await build({ configFile: new URL('vite.config.ts', here).pathname })
checkSizes()
publish()

/** The size of what the page loads at first, compressed, and of everything. */
function checkSizes() {
  const manifest = JSON.parse(readFileSync(new URL('.vite/manifest.json', dist), 'utf8'))
  const page = readFileSync(new URL('index.html', dist), 'utf8')
  const first = new Set()
  const visit = chunk => {
    if (!chunk || first.has(chunk.file)) return
    for (const file of [chunk.file, ...(chunk.css ?? [])]) first.add(file)
    for (const next of chunk.imports ?? []) visit(manifest[next])
  }
  // The page names its files; the chunk with the entry has no name of its own in the manifest.
  for (const [, file] of page.matchAll(/="\.\/(assets\/[^"]+)"/g))
    visit(Object.values(manifest).find(chunk => chunk.file === file))
  if (![...first].some(file => file.endsWith('.js'))) throw new Error('the page names no script')
  const compiledAhead = [...first].some(
    file =>
      file.endsWith('.js') && readFileSync(new URL(file, dist), 'utf8').startsWith('//# allFunctionsCalledOnLoad'),
  )
  if (!compiledAhead) throw new Error('no script of the first page begins with the comment that compiles it ahead')
  const gzipped = ending =>
    [...first]
      .filter(file => file.endsWith(ending))
      .reduce((sum, file) => sum + gzipSync(readFileSync(new URL(file, dist)), { level: 9 }).length, 0)
  const served = readdirSync(dist, { recursive: true }).filter(name => !name.startsWith('.vite'))
  const all = served
    .map(name => statSync(new URL(name, dist)))
    .reduce((sum, file) => sum + (file.isFile() ? file.size : 0), 0)
  bound('script of the first page, gzip', gzipped('.js'), SCRIPT_KB_MAX)
  bound('styles of the first page, gzip', gzipped('.css'), STYLES_KB_MAX)
  bound('all files', all, ALL_KB_MAX)
}

function bound(what, bytes, kbMax) {
  const kb = bytes / 1000
  if (process.env.PERDURE_SIZES) console.log(`console: ${what}: ${kb.toFixed(1)} KB of ${kbMax}`)
  if (kb <= kbMax) return
  console.error(`console: ${what}: ${kb.toFixed(1)} KB, over the bound of ${kbMax} KB`)
  process.exit(1)
}

/** Copies the files, compressed ones beside them. Names are hashes of contents, so that a file that exists is the same. */
function publish() {
  const assets = new URL('assets/', target)
  mkdirSync(assets, { recursive: true })
  const names = readdirSync(new URL('assets/', dist))
  for (const name of names) {
    const bytes = readFileSync(new URL(`assets/${name}`, dist))
    if (existsSync(new URL(`${name}.gz`, assets))) continue
    writeFileSync(new URL(name, assets), bytes)
    writeFileSync(new URL(`${name}.br`, assets), brotliCompressSync(bytes))
    writeFileSync(new URL(`${name}.gz`, assets), gzipSync(bytes, { level: 9 }))
  }
  for (const file of ['index.html', 'THIRD-PARTY-NOTICES.md']) copyFileSync(new URL(file, dist), new URL(file, target))
  for (const name of readdirSync(assets)) {
    if (!names.includes(name.replace(/\.(br|gz)$/, ''))) rmSync(new URL(name, assets))
  }
}
