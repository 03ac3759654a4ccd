// The files of the console, read into memory when the engine starts. The build has written them, and each of them compressed,
// beside the bundle of the engine.

import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname } from 'node:path'

/** One file, as it is and as the build compressed it. */
export interface ConsoleFile {
  type: string
  etag: string
  plain: Buffer
  br?: Buffer | undefined
  gzip?: Buffer | undefined
}

export interface ConsoleFiles {
  /** The page, for a path prefix of a proxy: it names its files by absolute paths. */
  index: string
  /** By name in `assets`. */
  assets: ReadonlyMap<string, ConsoleFile>
}

/** The folder of the files, next to this one in the bundle; from source, the one that was built. */
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

/** The files, read once; undefined when the console was not built. */
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
