// Files of the site for programs that read text: `llms.txt`, which lists the pages, and each page as Markdown at its address with
// `.md`. Called by build.ts.

import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DOCS, listedPages, type Section, sections } from './pages.ts'

export function writeTextPages(folder: string): void {
  writeFileSync(join(folder, 'llms.txt'), llmsText(sections()))
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
