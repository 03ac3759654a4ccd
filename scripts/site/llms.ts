// Files of the site for programs that read text: `llms.txt`, which lists the pages, `llms-full.txt`, which contains them, and each page
// as Markdown at its address with `.md`. Called by build.ts.

import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DOCS, listedPages, type Section, sections } from './pages.ts'

export function writeTextPages(folder: string): void {
  writeFileSync(join(folder, 'llms.txt'), llmsText(sections()))
  writeFileSync(join(folder, 'llms-full.txt'), fullText(sections()))
  for (const page of ['README.md', ...listedPages()]) {
    mkdirSync(dirname(join(folder, page)), { recursive: true })
    cpSync(join(DOCS, page), join(folder, page))
  }
}

function llmsText(all: readonly Section[]): string {
  const list = all.map(({ title, entries }) => {
    const lines = entries.flatMap(({ title, path, summary, children }) => [
      `- [${title}](${path}): ${summary}`,
      ...children.map(child => `  - [${child.title}](${child.path})`),
    ])
    return `## ${title}\n\n${lines.join('\n')}`
  })
  return `# Perdure\n\n> A durable workflow engine for TypeScript. Every page is Markdown.\n\n${list.join('\n\n')}\n`
}

/**
 * Returns the text of the pages that the list names. Reference pages below the page of a folder are left out: they are five times
 * as long as the rest.
 */
function fullText(all: readonly Section[]): string {
  const paths = all.flatMap(({ entries }) => entries.map(({ path }) => path))
  return paths.map(path => `<!-- ${path} -->\n\n${readFileSync(join(DOCS, path), 'utf8').trim()}\n`).join('\n')
}
