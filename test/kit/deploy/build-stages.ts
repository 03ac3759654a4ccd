// Builds the stages of a Dockerfile without Docker: each stage is a folder that stands for the root of its file system, and its
// instructions are executed in it, in their order, on the files that .dockerignore lets in. `npm ci` links the packages that
// this checkout has installed.

import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { projectFile } from './deploy-files.ts'
import { copiesOf, type Stage } from './dockerfile.ts'

const execute = promisify(execFile)
const checkout = fileURLToPath(new URL('../../..', import.meta.url))

/** The working directory of every stage. */
export const WORKDIR = '/app'
/** The command that compiles the whole project. */
const BUILD = 'npm run -s build'
const SOURCES = /^packages\/[^/]+\/(?:src|build)\//

export interface BuildOptions {
  stages: readonly Stage[]
  /** An empty folder for the stages. */
  home: string
  /** Whether the project is compiled in the stage. Otherwise the build uses this checkout's results of the same command. */
  compiles: boolean
}

export class StageBuilder {
  readonly #options: BuildOptions
  readonly #built = new Map<string, Promise<string>>()
  readonly #ignores = ignoring(projectFile('.dockerignore'))

  constructor(options: BuildOptions) {
    this.#options = options
  }

  /** Builds the stage and the stages that it needs. Resolves with the folder that stands for its root. */
  build(name: string): Promise<string> {
    const known = this.#built.get(name) ?? this.#build(name)
    this.#built.set(name, known)
    return known
  }

  async #build(name: string): Promise<string> {
    const stage = this.#options.stages.find(one => one.name === name)
    if (!stage) throw new Error(`the Dockerfile has no stage ${name}`)
    const root = join(this.#options.home, name)
    if (this.#options.stages.some(one => one.name === stage.from))
      cpSync(await this.build(stage.from), root, { recursive: true, verbatimSymlinks: true })
    mkdirSync(join(root, WORKDIR), { recursive: true })
    for (const instruction of stage.instructions) {
      if (instruction.word === 'COPY') await this.#copy(root, { ...stage, instructions: [instruction] })
      if (instruction.word === 'RUN') await this.#run(root, instruction.rest)
    }
    return root
  }

  /** Copies as Docker does: the contents of a folder, not the folder itself. A target that ends with a slash is a folder. */
  async #copy(root: string, stage: Stage): Promise<void> {
    for (const { from, sources, to } of copiesOf(stage)) {
      const source = from === undefined ? undefined : await this.build(from)
      for (const path of sources) {
        const found = source === undefined ? join(checkout, path) : join(source, resolve(WORKDIR, path))
        const isInto = to.endsWith('/') && !statSync(found).isDirectory()
        const target = join(root, resolve(WORKDIR, to), isInto ? basename(path) : '')
        mkdirSync(dirname(target), { recursive: true })
        const filter = source === undefined ? (file: string) => this.#isTaken(relative(checkout, file)) : () => true
        cpSync(found, target, { recursive: true, verbatimSymlinks: true, filter })
      }
    }
  }

  /** Whether a path of the context is copied. Without a compilation, copying its sources would only take time. */
  #isTaken(path: string): boolean {
    return !this.#ignores(path) && (this.#options.compiles || !SOURCES.test(path))
  }

  async #run(root: string, command: string): Promise<void> {
    const home = join(root, WORKDIR)
    if (/^npm ci( |$)/.test(command)) return install(home, command.split(' '))
    if (command === BUILD && !this.#options.compiles) return takeBuilt(home)
    // Absolute paths are those of the stage.
    const inStage = command.replaceAll(/(?<=\s)\/(?=\w)/g, `${root}/`)
    const { PATH = '', HOME = home } = process.env
    await execute('sh', ['-ec', inStage], { cwd: home, env: { PATH, HOME }, maxBuffer: 2 ** 24 })
  }
}

/** The paths that .dockerignore keeps out of the context. It knows the kinds of patterns that the file has. */
function ignoring(text: string): (path: string) => boolean {
  const lines = text.split('\n').filter(line => line !== '' && !line.startsWith('#'))
  const rules = lines.map(line => {
    const isException = line.startsWith('!')
    const pattern = (isException ? line.slice(1) : line)
      .replaceAll(/[.+?^$()|[\]{}]/g, '\\$&')
      .replaceAll('**/', '\0')
      .replaceAll('*', '[^/]*')
      .replaceAll('\0', '(?:.*/)?')
    return { isException, pattern: new RegExp(`^${pattern}(?:/.*)?$`) }
  })
  return path => !(rules.findLast(({ pattern }) => pattern.test(path))?.isException ?? true)
}

interface LockEntry {
  resolved?: string
  link?: boolean
  dependencies?: Record<string, string>
}

/** Links every installed package, or with `--workspace` only the packages in its production dependencies. */
function install(home: string, args: readonly string[]): void {
  const { packages } = JSON.parse(readFileSync(join(home, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, LockEntry>
  }
  const workspace = args[args.indexOf('--workspace') + 1]
  const all = Object.keys(packages)
    .filter(path => /^node_modules\/(@[^/]+\/)?[^/]+$/.test(path))
    .map(path => path.slice('node_modules/'.length))
  const wanted = args.includes('--workspace') ? closure(workspace as string, packages) : new Set([...all, '.bin'])
  for (const name of wanted) {
    const entry = packages[`node_modules/${name}`]
    const target = join(
      entry?.link ? home : checkout,
      entry?.link ? (entry.resolved as string) : `node_modules/${name}`,
    )
    if (existsSync(target)) link(join(home, 'node_modules', name), target)
  }
}

/** The packages that a package loads: nested copies stay where they are installed. */
function closure(start: string, packages: Record<string, LockEntry>): Set<string> {
  const found = new Set<string>()
  const add = (name: string) => {
    const entry = packages[`node_modules/${name}`]
    if (!entry || found.has(name)) return
    found.add(name)
    const { dependencies = {} } = entry.link ? (packages[entry.resolved as string] ?? {}) : entry
    for (const dependency of Object.keys(dependencies)) add(dependency)
  }
  add(start)
  return found
}

function link(path: string, target: string): void {
  mkdirSync(dirname(path), { recursive: true })
  symlinkSync(target.startsWith(checkout) ? target : relative(dirname(path), target), path)
}

function takeBuilt(home: string): void {
  for (const name of readdirSync(join(home, 'packages'))) {
    const built = join(checkout, 'packages', name, 'dist')
    if (existsSync(built)) cpSync(built, join(home, 'packages', name, 'dist'), { recursive: true })
  }
}
