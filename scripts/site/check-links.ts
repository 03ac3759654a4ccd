// Checks the links of the built site: every page, anchor and picture of a link exists, and every file of the repository
// that a page links to. Called by build.ts.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, posix, resolve } from 'node:path'
import { REPOSITORY } from './markdown.ts'

const ROOT = resolve(import.meta.dirname, '../..')

/** Returns the links of the site in `folder` that lead nowhere, each with the page that contains it. */
export function deadLinks(folder: string, base = '/'): string[] {
  const names = readdirSync(folder, { recursive: true }) as string[]
  const pages = new Map(names.filter(name => name.endsWith('.html')).map(name => [name, linksOf(folder, name)]))
  return [...pages].flatMap(([page, { links }]) =>
    [...links].filter(link => !leads(link, page)).map(link => `${page}: ${link}`),
  )

  function leads(link: string, page: string): boolean {
    const inRepository = new RegExp(`^${REPOSITORY}/(?:blob|tree)/main/([^#?]*)`).exec(link)?.[1]
    if (inRepository !== undefined) return existsSync(join(ROOT, inRepository))
    if (/^[a-z][a-z+.-]*:|^\/\//i.test(link)) return true
    const [path = '', anchor] = link.split('#')
    const absolute = path.startsWith(base) ? path.slice(base.length) : posix.join(posix.dirname(page), path)
    const file = path === '' ? page : fileOf(absolute)
    if (file === undefined) return false
    return anchor === undefined || anchor === '' || (pages.get(file)?.ids.has(decodeURIComponent(anchor)) ?? false)
  }

  /** Returns the file that a server would answer with for a path. */
  function fileOf(path: string): string | undefined {
    const tried = [path, `${path}.html`, posix.join(path, 'index.html')].map(name => posix.normalize(name))
    return (
      tried.find(name => pages.has(name)) ?? tried.find(name => /\.\w+$/.test(name) && existsSync(join(folder, name)))
    )
  }
}

function linksOf(folder: string, name: string) {
  const html = readFileSync(join(folder, name), 'utf8')
  const all = (pattern: RegExp) => new Set([...html.matchAll(pattern)].map(match => unescaped(match[1] as string)))
  return { links: all(/<(?:a|img|link)\b[^>]*?\s(?:href|src)="([^"]+)"/g), ids: all(/\sid="([^"]+)"/g) }
}

const unescaped = (text: string) => text.replaceAll('&amp;', '&').replaceAll('&quot;', '"').replaceAll('&#39;', "'")
