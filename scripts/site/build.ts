// Builds the site of the documentation into `build/docs`. Rejects when a page of `docs` is not listed in `docs/README.md`, or when
// a link leads nowhere. Called by docs.ts.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { deadLinks } from './check-links.ts'
import { writeTextPages } from './llms.ts'
import { DOCS, listedPages, storedPages } from './pages.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const SITE = join(ROOT, 'build/docs')

export async function buildSite(): Promise<void> {
  refuseUnlisted()
  await vitepress()
  cpSync(join(DOCS, 'images'), join(SITE, 'images'), { recursive: true })
  writeTextPages(SITE)
  const dead = deadLinks(SITE, process.env.DOCS_BASE)
  if (dead.length > 0) throw new Error(`Links that lead nowhere:\n  ${dead.join('\n  ')}`)
  console.log(`${listedPages().length} pages are in ${SITE}`)
}

function refuseUnlisted(): void {
  const listed = new Set(listedPages())
  const missing = storedPages().filter(page => !listed.has(page))
  if (missing.length > 0) throw new Error(`Pages that docs/README.md does not list: ${missing.join(', ')}`)
}

/** Runs VitePress, and prints its output only if it fails. */
async function vitepress(): Promise<void> {
  const child = spawn('node_modules/.bin/vitepress', ['build', 'docs'], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      printed += text
    })
  }
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`VitePress failed:\n${printed}`)
}
