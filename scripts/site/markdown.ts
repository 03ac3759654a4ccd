// Renders Markdown for the site that is written for a repository host: the host's anchors, links to files outside of `docs`, and
// pictures for dark and light. Called by config.ts.

import { posix } from 'node:path'
import type { MarkdownRenderer } from 'vitepress'

export const REPOSITORY = 'https://github.com/perdure/perdure'

/** Tags that pages use within a line. Anything else in angle brackets is a placeholder, such as `<list>`. */
const INLINE_TAGS = /^<\/?(a|br|img|sub|sup)\b/

export function forRepositoryPages(md: MarkdownRenderer): void {
  md.core.ruler.push('repository-links', ({ tokens, env }) => {
    const page = (env as { relativePath?: string }).relativePath ?? ''
    for (const { children } of tokens) {
      for (const token of children ?? []) {
        const href = token.attrGet('href')
        if (token.type === 'link_open' && href !== null) token.attrSet('href', siteLink(page, href))
      }
    }
  })
  md.renderer.rules.html_inline = (tokens, index) => {
    const { content = '' } = tokens[index] ?? {}
    return INLINE_TAGS.test(content) ? content : md.utils.escapeHtml(content)
  }
  const { html_block: render } = md.renderer.rules
  md.renderer.rules.html_block = (tokens, index, ...rest) => {
    const token = tokens[index]
    if (token) token.content = twoPictures(token.content)
    return render?.(tokens, index, ...rest) ?? token?.content ?? ''
  }
}

/** Returns the link on the site: files outside of `docs` are on the repository's host, and the page of a folder is its index. */
function siteLink(page: string, href: string): string {
  if (/^([a-z][a-z+.-]*:|#|\/)/i.test(href)) return href
  const path = posix.join('docs', posix.dirname(page), href)
  if (!path.startsWith('docs/')) return `${REPOSITORY}/blob/main/${path}`
  return href.replace(/(^|\/)README\.md(?=#|$)/, '$1index.md')
}

/** Splits a `<picture>` into two pictures: the site's switch between dark and light does not affect `<picture>`. */
function twoPictures(html: string): string {
  return html.replace(
    /<picture>\s*<source[^>]*srcset="([^"]+)">\s*<img alt="([^"]*)" src="([^"]+)">\s*<\/picture>/g,
    (_, dark, alt, light) =>
      `<img class="only-light" alt="${alt}" src="./${light}"><img class="only-dark" alt="${alt}" src="./${dark}">`,
  )
}

export const PICTURE_STYLE = 'html.dark .only-light, html:not(.dark) .only-dark { display: none }'
