// A stand-in for a package registry, on loopback: serves our packages as they would be published, and those of this
// repository's node_modules that they depend on. A test installs from it without a network.

import { execFile, execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { onCleanup } from '../cleanup.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))

interface Manifest {
  name: string
  version: string
  optionalDependencies?: Record<string, string>
  scripts?: Record<string, string>
}

export interface PackedPackage {
  manifest: Manifest
  /** Paths in the package. */
  files: string[]
  tarball: string
}

export interface Registry {
  url: string
  /** Our packages, by name. */
  packed: ReadonlyMap<string, PackedPackage>
}

/** Packs our packages and serves them until the test file ends. */
export async function openRegistry(): Promise<Registry> {
  const home = mkdtempSync(join(tmpdir(), 'perdure-registry-'))
  onCleanup(() => rmSync(home, { recursive: true, force: true }))
  const packed = packAll(home)
  const others = installedElsewhere()
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? '', 'http://registry').pathname).slice(1)
    const [name, version] = path.startsWith('-/')
      ? [path.slice(2).replace(/@[^@]*$/, ''), path.replace(/.*@/, '')]
      : [path]
    if (version === undefined) {
      const versions = manifestsOf(name, packed, others)
      response.statusCode = versions.length > 0 ? 200 : 404
      response.end(JSON.stringify(versions.length > 0 ? packument(name, versions, urlOf()) : {}))
      return
    }
    const file = packed.get(name)?.tarball ?? pack(home, others.get(name)?.get(version))
    Promise.resolve(file).then(
      file => response.end(readFileSync(file)),
      error => {
        response.statusCode = 500
        response.end(String(error))
      },
    )
  })
  const urlOf = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onCleanup(() => server.close())
  return { url: urlOf(), packed }
}

/** `npm pack` of every package of ours that is published. */
function packAll(home: string): Map<string, PackedPackage> {
  const published = readdirSync(join(root, 'packages')).filter(
    name => !(manifestAt(join(root, 'packages', name)) as { private?: boolean }).private,
  )
  const folders = published.map(name => `--workspace=packages/${name}`)
  const text = execFileSync('npm', ['pack', '--json', '--ignore-scripts', ...folders, '--pack-destination', home], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const list = JSON.parse(text) as { name: string; filename: string; files: { path: string }[] }[]
  return new Map(
    list.map(({ name, filename, files }) => [
      name,
      {
        manifest: manifestAt(join(root, 'node_modules', name)),
        files: files.map(({ path }) => path),
        tarball: join(home, filename.replace('@', '').replace('/', '-')),
      },
    ]),
  )
}

/** The folders of installed packages, by name and version, from the lock file. */
function installedElsewhere(): Map<string, Map<string, string>> {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, unknown>
  }
  const found = new Map<string, Map<string, string>>()
  for (const path of Object.keys(lock.packages)) {
    if (!path.includes('node_modules/') || !existsSync(join(root, path, 'package.json'))) continue
    const { name, version } = manifestAt(join(root, path))
    found.set(name, (found.get(name) ?? new Map<string, string>()).set(version, join(root, path)))
  }
  return found
}

function manifestAt(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
}

function manifestsOf(
  name: string,
  packed: ReadonlyMap<string, PackedPackage>,
  others: ReadonlyMap<string, ReadonlyMap<string, string>>,
): Manifest[] {
  const ours = packed.get(name)
  if (ours) return [ours.manifest]
  return [...(others.get(name)?.values() ?? [])].map(folder => {
    const manifest = manifestAt(folder)
    const optional = Object.entries(manifest.optionalDependencies ?? {})
    // Packages for other platforms are not installed here.
    return { ...manifest, optionalDependencies: Object.fromEntries(optional.filter(([other]) => others.has(other))) }
  })
}

function packument(name: string, versions: readonly Manifest[], url: string): unknown {
  const parts = ({ version }: Manifest) => version.split('.').map(Number)
  const newest = versions.reduce((one, other) => (isAfter(parts(other), parts(one)) ? other : one))
  return {
    name,
    'dist-tags': { latest: newest.version },
    versions: Object.fromEntries(
      versions.map(manifest => [
        manifest.version,
        { ...manifest, dist: { tarball: `${url}/-/${encodeURIComponent(name)}@${manifest.version}` } },
      ]),
    ),
  }
}

/** Whether one version, given as its parts, is newer than another. */
function isAfter(version: number[], other: number[]): boolean {
  const at = version.findIndex((part, index) => part !== other[index])
  return at >= 0 && (version[at] as number) > (other[at] as number)
}

/** A tarball of an installed package's folder, without compression, which npm accepts and which would take most of the time. */
async function pack(home: string, folder: string | undefined): Promise<string> {
  if (folder === undefined) throw new Error('no such package')
  const file = join(home, `${folder.replace(/\W+/g, '-')}.tar`)
  if (existsSync(file)) return file
  await promisify(execFile)('tar', ['-cf', file, '-C', dirname(folder), basename(folder)])
  return file
}
