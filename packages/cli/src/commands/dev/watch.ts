// Watches the sources below a directory. Directories are watched one by one: watching a tree as a whole would take
// node_modules along.

import { type FSWatcher, readdirSync, watch } from 'node:fs'
import { extname, join, relative } from 'node:path'

export interface WatchOptions {
  directory: string
  /** Told once for many changes that come together, with the first of their paths, relative to the directory. */
  onChange(file: string): void
  /** Told once, when not everything can be watched. */
  onProblem(problem: string): void
}

const IGNORED = new Set(['node_modules', '.git', 'dist', '.perdure'])
/** What programs are made of; others are what programs write. */
const SOURCES = new Set(['.ts', '.tsx', '.mts', '.cts', '.js', '.jsx', '.mjs', '.cjs', '.json', '.env'])
const DIRECTORIES_MAX = 4_096
/** Editors and build steps touch files several times. */
const SETTLE_MS = 100

/** Starts to watch; answers how to stop. */
export function watchSources(options: WatchOptions): () => void {
  const watcher = new SourceWatcher(options)
  watcher.add(options.directory)
  return () => watcher.close()
}

class SourceWatcher {
  readonly #options: WatchOptions
  readonly #watched = new Map<string, FSWatcher>()
  #changed: string | undefined
  #timer: NodeJS.Timeout | undefined
  #troubled = false

  constructor(options: WatchOptions) {
    this.#options = options
  }

  /** Watches a directory and those in it. With `isNew`, the sources in it are changes. */
  add(directory: string, isNew = false): void {
    if (this.#watched.has(directory)) return
    if (this.#watched.size >= DIRECTORIES_MAX) {
      this.#trouble(`more than ${DIRECTORIES_MAX} directories: changes in the others are not seen`)
      return
    }
    try {
      const watcher = watch(directory, (_, name) => name !== null && this.#seen(directory, name))
      watcher.on('error', () => this.#forget(directory))
      this.#watched.set(directory, watcher)
      for (const entry of readdirSync(directory, { withFileTypes: true })) {
        if (entry.isDirectory() && !IGNORED.has(entry.name)) this.add(join(directory, entry.name), isNew)
        else if (isNew && isSource(entry.name)) this.#change(join(directory, entry.name))
      }
    } catch (error) {
      // Gone again, most likely; or there are no watches left.
      const { code, message } = error as NodeJS.ErrnoException
      if (code !== 'ENOENT' && code !== 'ENOTDIR') this.#trouble(`${directory} is not watched: ${message}`)
    }
  }

  close(): void {
    clearTimeout(this.#timer)
    for (const watcher of this.#watched.values()) watcher.close()
    this.#watched.clear()
  }

  #seen(directory: string, name: string): void {
    const path = join(directory, name)
    if (isSource(name)) this.#change(path)
    else if (!IGNORED.has(name)) this.#look(path)
  }

  /** A name without the look of a source: a directory that came or went, or nothing of ours. */
  #look(path: string): void {
    try {
      readdirSync(path)
      this.add(path, true)
    } catch {
      this.#forget(path)
    }
  }

  #forget(directory: string): void {
    this.#watched.get(directory)?.close()
    this.#watched.delete(directory)
  }

  #change(path: string): void {
    this.#changed ??= relative(this.#options.directory, path)
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      const file = this.#changed ?? ''
      this.#changed = undefined
      this.#options.onChange(file)
    }, SETTLE_MS)
  }

  #trouble(problem: string): void {
    if (!this.#troubled) this.#options.onProblem(problem)
    this.#troubled = true
  }
}

function isSource(name: string): boolean {
  return SOURCES.has(extname(name)) || name === '.env'
}
