// Watches the sources below a directory. It watches each directory separately: watching the tree as a whole would
// include node_modules.

import { type FSWatcher, readdirSync, watch } from 'node:fs'
import { extname, join, relative } from 'node:path'

interface WatchOptions {
  directory: string
  /** Called once for changes within a short time, with the path of the first, relative to the directory. */
  onChange(file: string): void
  /** Called once, when some directories cannot be watched. */
  onProblem(problem: string): void
}

const IGNORED = new Set(['node_modules', '.git', 'dist', '.perdure'])
/** Extensions of source files. Other files are mostly written by programs. */
const SOURCES = new Set(['.ts', '.tsx', '.mts', '.cts', '.js', '.jsx', '.mjs', '.cjs', '.json', '.env'])
const DIRECTORIES_MAX = 4_096
/** Editors and build steps write a file several times: changes within this time are one. */
const SETTLE_MS = 100

/** Starts watching; returns the function that stops it. */
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

  /** Watches a directory and its subdirectories. With `isNew`, its sources count as changes. */
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
      // The directory may already be gone, which is fine; or the system allows no more watches.
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

  /** Handles a name that is not a source: a directory that was created or removed, or another file. */
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
