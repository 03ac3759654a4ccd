// The pages of the site in the order of `docs/README.md`, which lists each page once. The sidebar and `llms.txt` come from that
// list.

import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'

export const DOCS = resolve(import.meta.dirname, '../../docs')

export interface Entry {
  title: string
  /** Relative to `docs`. */
  path: string
  summary: string
  /** The other pages of the entry's folder, if the entry is the page of a folder. */
  children: readonly { title: string; path: string }[]
}

export interface Section {
  title: string
  entries: readonly Entry[]
}

/** Returns the text of a page below `docs`. */
const textOf = (path: string) => readFileSync(join(DOCS, path), 'utf8')

export function sections(): Section[] {
  const [, ...parts] = textOf('README.md').split(/^## /m)
  return parts.map(part => ({
    title: part.slice(0, part.indexOf('\n')),
    entries: [...part.matchAll(/^- \[(.+?)\]\((.+?)\): (.+)$/gm)].map(([, title = '', path = '', summary = '']) => ({
      title,
      path,
      summary,
      children: childrenOf(path),
    })),
  }))
}

/** Returns every page that the list names, directly or as a child. */
export function listedPages(): string[] {
  const entries = sections().flatMap(section => section.entries)
  return entries.flatMap(({ path, children }) => [path, ...children.map(child => child.path)])
}

/** Returns every page below `docs`, without the list itself. */
export function storedPages(): string[] {
  const names = readdirSync(DOCS, { recursive: true }) as string[]
  return names.filter(name => name.endsWith('.md') && name !== 'README.md' && !name.startsWith('.vitepress'))
}

function childrenOf(path: string): { title: string; path: string }[] {
  if (basename(path) !== 'README.md') return []
  const folder = dirname(path)
  const names = readdirSync(join(DOCS, folder)).filter(name => name.endsWith('.md') && name !== 'README.md')
  return names.sort().map(name => ({ title: titleOf(`${folder}/${name}`), path: `${folder}/${name}` }))
}

function titleOf(path: string): string {
  return /^# (.+)$/m.exec(textOf(path))?.[1] ?? path
}
