// The common version of all packages: reads it, and writes a new one to every place that has it.

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const VERSION = /^(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z.-]+))?$/

/** Files that name the version in their own way, with the text around the version. */
const NAMED = [
  { file: 'packages/engine/src/base/version.ts', before: "ENGINE_VERSION = '" },
  { file: 'packages/sdk/src/runner/registration.ts', before: "SDK_VERSION = '" },
  { file: 'Dockerfile', before: 'image.version=' },
  { file: 'deploy/kubernetes/engine/engine.yaml', before: '/perdure:' },
  { file: 'deploy/kubernetes/sqlite/sqlite.yaml', before: '/perdure:' },
]

interface Manifest {
  name: string
  version: string
  private?: boolean
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
}

export interface PackageFolder {
  folder: string
  manifest: Manifest
}

/** Returns the published packages, each after its dependencies. */
export function packages(root: string): PackageFolder[] {
  const all = readdirSync(join(root, 'packages'))
    .map(name => ({ folder: `packages/${name}`, manifest: read(root, `packages/${name}/package.json`) as Manifest }))
    .filter(({ manifest }) => !manifest.private)
  const ordered: PackageFolder[] = []
  const add = (one: PackageFolder) => {
    if (ordered.includes(one)) return
    for (const other of all) if (one.manifest.dependencies?.[other.manifest.name]) add(other)
    ordered.push(one)
  }
  for (const one of all) add(one)
  return ordered
}

/** Returns the version that all packages have. Throws an error that names the packages that differ. */
export function currentVersion(root: string): string {
  const all = packages(root)
  const versions = new Set(all.map(({ manifest }) => manifest.version))
  if (versions.size === 1) return [...versions][0] as string
  throw new Error(
    `the packages differ: ${all.map(({ manifest: { name, version } }) => `${name} ${version}`).join(', ')}`,
  )
}

/** Whether `next` is a version that may follow `current`. */
export function isLater(next: string, current: string): boolean {
  const [a, b] = [VERSION.exec(next), VERSION.exec(current)]
  if (!a || !b) return false
  for (let i = 1; i <= 3; i++) if (a[i] !== b[i]) return Number(a[i]) > Number(b[i])
  // A version with a suffix comes before the one without.
  return a[4] === undefined ? b[4] !== undefined : b[4] !== undefined && a[4] > b[4]
}

/** Writes the version to every manifest, dependencies among the packages included, to the lock and to `NAMED`. */
export function writeVersion(root: string, next: string): void {
  const current = currentVersion(root)
  const names = new Set(packages(root).map(({ manifest }) => manifest.name))
  const raised = (manifest: Manifest) => {
    if (names.has(manifest.name)) manifest.version = next
    for (const list of [manifest.dependencies, manifest.devDependencies, manifest.peerDependencies]) {
      for (const name of Object.keys(list ?? {})) if (list && names.has(name)) list[name] = next
    }
  }
  for (const parent of ['packages', 'examples']) {
    for (const name of readdirSync(join(root, parent))) {
      const file = `${parent}/${name}/package.json`
      if (!existsSync(join(root, file))) continue
      const manifest = read(root, file) as Manifest
      raised(manifest)
      write(root, file, manifest)
    }
  }
  const lock = read(root, 'package-lock.json') as { packages: Record<string, Manifest> }
  for (const [path, entry] of Object.entries(lock.packages)) if (/^(packages|examples)\//.test(path)) raised(entry)
  write(root, 'package-lock.json', lock)
  for (const { file, before } of NAMED) {
    const text = readFileSync(join(root, file), 'utf8')
    if (!text.includes(before + current)) throw new Error(`${file} does not name the version ${current}`)
    writeFileSync(join(root, file), text.replaceAll(before + current, before + next))
  }
}

function read(root: string, file: string): unknown {
  return JSON.parse(readFileSync(join(root, file), 'utf8'))
}

function write(root: string, file: string, value: unknown): void {
  writeFileSync(join(root, file), `${JSON.stringify(value, null, 2)}\n`)
}
