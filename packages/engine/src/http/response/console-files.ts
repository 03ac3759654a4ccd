// The files of the console, read into memory when the engine starts. The build has put them, each also in compressed form, next
// to the engine's bundle.

import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname } from 'node:path'

/** One file, in its plain and its compressed form. */
export interface ConsoleFile {
  type: string
  etag: string
  plain: Buffer
  br?: Buffer | undefined
  gzip?: Buffer | undefined
}

export interface ConsoleFiles {
  /** The page for a path prefix of a proxy: it names its files by absolute paths. */
  index: string
  /** By name in `assets`. */
  assets: ReadonlyMap<string, ConsoleFile>
}

/** The folder of the files, next to this one in the bundle; when run from source, the built folder. */
const FOLDER = import.meta.url.endsWith('.ts')
  ? new URL('../../../dist/bundle/console/', import.meta.url)
  : new URL('./console/', import.meta.url)

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.map': 'application/json',
}

let read: ConsoleFiles | undefined

/** Returns the files, read once; undefined if the console was not built. */
export function consoleFiles(): ConsoleFiles | undefined {
  if (!read && existsSync(new URL('index.html', FOLDER))) read = readFiles()
  return read
}

function readFiles(): ConsoleFiles {
  const folder = new URL('assets/', FOLDER)
  const names = readdirSync(folder)
  const all = new Set(names)
  const bytesOf = (name: string) => (all.has(name) ? readFileSync(new URL(name, folder)) : undefined)
  const assets = new Map<string, ConsoleFile>()
  for (const name of names) {
    const type = TYPES[extname(name)]
    if (type === undefined) continue
    const plain = readFileSync(new URL(name, folder))
    assets.set(name, { type, etag: etagOf(plain), plain, br: bytesOf(`${name}.br`), gzip: bytesOf(`${name}.gz`) })
  }
  return { index: readFileSync(new URL('index.html', FOLDER), 'utf8'), assets }
}

/** A strong tag of the bytes. */
export function etagOf(bytes: Buffer): string {
  return `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`
}
