// The configuration of the site: VitePress over `docs`, with a search that needs no server. `docs/.vitepress/config.ts` exports it.

import { defineConfig } from 'vitepress'
import { slugOf } from '../../test/tidy/markdown.ts'
import { forRepositoryPages, PICTURE_STYLE, REPOSITORY } from './markdown.ts'
import { type Entry, sections } from './pages.ts'

/** Returns the address of a page: the page of a folder has the folder's address. */
const addressOf = (path: string) => `/${path.replace(/(^|\/)README\.md$/, '$1').replace(/\.md$/, '')}`

function item({ title, path, children }: Entry) {
  if (children.length === 0) return { text: title, link: addressOf(path) }
  const items = children.map(child => ({ text: child.title.replaceAll('`', ''), link: addressOf(child.path) }))
  return { text: title, link: addressOf(path), collapsed: true, items }
}

/**
 * Returns the weight of a page in the search: guides come before decision records and references. VitePress writes the function
 * into the site as text, so it uses nothing from outside.
 */
const boostDocument = (id: string) => {
  if (/\/decisions\//.test(id)) return 0.3
  if (/\/(sdk|http-api)\//.test(id)) return 0.6
  return /\/(wire-protocol|glossary|state-machine)\b/.test(id) ? 0.7 : 1
}

export default defineConfig({
  title: 'Perdure',
  description: 'A durable workflow engine for TypeScript',
  base: process.env.DOCS_BASE ?? '/',
  outDir: '../build/docs',
  cacheDir: '../node_modules/.cache/vitepress',
  head: [['style', {}, PICTURE_STYLE]],
  rewrites: id => id.replace(/(^|\/)README\.md$/, '$1index.md'),
  // check-links.ts checks the links on the built pages, with their anchors.
  ignoreDeadLinks: true,
  markdown: { anchor: { slugify: slugOf }, config: forRepositoryPages },
  themeConfig: {
    search: { provider: 'local', options: { miniSearch: { searchOptions: { boostDocument } } } },
    outline: [2, 3],
    sidebar: sections().map(({ title, entries }) => ({ text: title, items: entries.map(item) })),
    nav: [
      { text: 'Quickstart', link: '/quickstart' },
      { text: 'HTTP API', link: '/http-api/' },
      { text: 'Operating', link: '/operating' },
    ],
    socialLinks: [{ icon: 'github', link: REPOSITORY }],
    editLink: { pattern: `${REPOSITORY}/edit/main/docs/:path` },
    docFooter: { prev: false, next: false },
  },
})
