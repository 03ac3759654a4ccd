// Builds the packages: first their types and modules, then in pairs the bundles that processes and browsers load. A part is
// skipped if its sources are the same as at its last build, and a build with nothing to do prints nothing. `npm run build`; `npm
// run build -- --all` builds every part.

import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

interface Part {
  name: string
  command: readonly string[]
  /** The packages that go into it. */
  of: readonly string[]
  /** Other folders that go into it. */
  contains?: readonly string[]
  /** A file that it writes. */
  output: string
}

const AT_ONCE = 2
const root = resolve(import.meta.dirname, '..')
const stamps = join(root, 'node_modules/.cache/perdure-build')
const tsdown = (name: string) => ['node_modules/.bin/tsdown', '--config', `packages/${name}/tsdown.config.ts`]

// The slowest first.
const PARTS: readonly Part[] = [
  {
    name: 'console',
    command: ['node', 'packages/console/build.mjs'],
    of: ['console', 'client', 'protocol'],
    output: 'packages/engine/dist/bundle/console/index.html',
  },
  { name: 'sdk', command: tsdown('sdk'), of: ['sdk', 'client', 'protocol'], output: 'packages/sdk/dist/index.js' },
  {
    name: 'engine',
    command: tsdown('engine'),
    of: ['engine', 'protocol'],
    contains: ['docs'],
    output: 'packages/engine/dist/bundle/index.js',
  },
  { name: 'client', command: tsdown('client'), of: ['client', 'protocol'], output: 'packages/client/dist/index.js' },
  {
    name: 'cli',
    command: tsdown('cli'),
    of: ['cli', 'client', 'protocol'],
    output: 'packages/cli/dist/bundle/main.js',
  },
  {
    name: 'perdure',
    command: ['node', 'packages/perdure/build.mjs'],
    of: ['perdure'],
    output: 'packages/perdure/dist/index.js',
  },
]

/** Every part also depends on these. */
const COMMON = ['package-lock.json', 'scripts/library', 'scripts/build.ts']
const WRITTEN = new Set(['node_modules', 'dist', 'build'])
const isSource = (name: string) => !WRITTEN.has(name) && !/\.(test|testkit)\.tsx?$/.test(name)

/** Returns a digest that changes with each change of a source. */
function digestOf({ of, contains = [] }: Part): string {
  const digest = createHash('sha256')
  const visit = (path: string): void => {
    const stat = statSync(path)
    if (!stat.isDirectory()) digest.update(`${path} ${stat.size} ${stat.mtimeMs}\n`)
    else for (const name of readdirSync(path).sort()) if (isSource(name)) visit(join(path, name))
  }
  for (const path of [...COMMON, ...contains, ...of.map(name => `packages/${name}`)]) visit(join(root, path))
  return digest.digest('hex')
}

function isFresh(part: Part): boolean {
  const stamp = join(stamps, part.name)
  return existsSync(join(root, part.output)) && existsSync(stamp) && readFileSync(stamp, 'utf8') === digestOf(part)
}

async function build(part: Part): Promise<void> {
  const digest = digestOf(part)
  const began = performance.now()
  await run(part.command)
  writeFileSync(join(stamps, part.name), digest)
  report(part.name, began)
}

function report(name: string, beganMs: number): void {
  console.log(`  ${name}: ${((performance.now() - beganMs) / 1000).toFixed(1)} s`)
}

/** Runs a command. Rejects with its output if it fails. */
function run([command = '', ...args]: readonly string[]): Promise<void> {
  const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  let printed = ''
  const keep = (text: Buffer) => {
    printed += text
  }
  child.stdout.on('data', keep)
  child.stderr.on('data', keep)
  return new Promise((done, fail) => {
    child.once('error', fail)
    child.once('close', code => (code === 0 ? done() : fail(new Error(`${command} ${args.join(' ')}\n${printed}`))))
  })
}

async function main(): Promise<void> {
  mkdirSync(stamps, { recursive: true })
  const waiting = PARTS.filter(part => process.argv.includes('--all') || !isFresh(part))
  if (waiting.length > 0) {
    const names = waiting.map(part => part.name).join(', ')
    console.log(`Building types, ${names}. The first build takes a minute or two; later ones build what has changed.`)
  }
  const began = performance.now()
  await run(['node', 'node_modules/typescript-native/bin/tsc', '-b'])
  if (waiting.length > 0) report('types', began)
  const buildNext = async (): Promise<void> => {
    for (let part = waiting.shift(); part; part = waiting.shift()) await build(part)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, buildNext))
}

try {
  await main()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exit(1)
}
