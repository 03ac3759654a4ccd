// The licences of the packages in a bundle: their texts must accompany it. A build plugin writes them next to the bundle.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export const NOTICES_FILE = 'THIRD-PARTY-NOTICES.txt'

interface Package {
  name: string
  version: string
  license?: string
}

/** The part of the bundler's output description that this file reads. */
interface Output {
  type: string
  moduleIds?: readonly string[]
}
interface Emitter {
  emitFile(file: { type: 'asset'; fileName: string; source: string }): string
}

/** Writes the notices of all packages whose modules are in the bundle. */
export const thirdPartyNotices = {
  name: 'perdure-third-party-notices',
  generateBundle(this: Emitter, _options: unknown, bundle: Record<string, Output>): void {
    const modules = Object.values(bundle).flatMap(({ moduleIds = [] }) => moduleIds)
    this.emitFile({ type: 'asset', fileName: NOTICES_FILE, source: noticesOf(modules) })
  },
}

/** Returns the notices of the packages that the modules belong to, by name. Throws if a package has no licence. */
export function noticesOf(modules: readonly string[]): string {
  const directories = new Set(modules.flatMap(id => directoryOf(id) ?? []))
  const notices = [...directories].map(noticeOf).sort()
  return `This bundle contains the packages below, each under its licence.\n\n${notices.join('\n')}`
}

/** Returns the directory of the package that a module belongs to; undefined for one of our modules. */
function directoryOf(id: string): string | undefined {
  // For a package inside another one, this is the inner one. Bundlers put a NUL before modules that they generate.
  return /^\0?(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(id.replaceAll('\\', '/'))?.[1]
}

function noticeOf(directory: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as Package
  const texts = readdirSync(directory)
    .filter(file => /^(licen[cs]e|notice|copying)/i.test(file))
    .sort()
    .map(file => readFileSync(join(directory, file), 'utf8').replaceAll('\r\n', '\n').trim())
  const text = texts.length > 0 ? texts.join('\n\n') : inReadme(directory)
  if (license === undefined && text === undefined) throw new Error(`${name} is bundled and has no licence`)
  const title = `${name} ${version} (${license ?? 'see below'})`
  return `${title}\n${'-'.repeat(title.length)}\n\n${text ?? 'The package comes without the text of its licence.'}\n`
}

/** Finds the licence at the end of the readme, where some packages have it. */
function inReadme(directory: string): string | undefined {
  const file = readdirSync(directory).find(name => /^readme/i.test(name))
  if (file === undefined) return undefined
  return /^#+\s*licen[cs]e\s*$([\s\S]*)/im.exec(readFileSync(join(directory, file), 'utf8'))?.[1]?.trim()
}
