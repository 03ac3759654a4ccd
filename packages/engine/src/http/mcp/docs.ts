// The tools that read the documentation, which the build puts next to the engine's bundle. Called by messages.ts.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { cutText, hintFor, quoteName } from '@perdure/protocol'
import { BLOCK_CHARS_MAX, faultOf, type ToolResult, textResult } from './result.ts'
import type { Tool } from './tools.ts'

/** The pages: next to the bundle; when run from source, those of the repository. */
const FOLDER = import.meta.url.endsWith('.ts')
  ? new URL('../../../../../docs/', import.meta.url)
  : new URL('./docs/', import.meta.url)

const FOUND_MAX = 8
const EXCERPT_CHARS = 300
const QUERY_CHARS_MAX = 200
const TERMS_MAX = 10
/** A term in the title of a section says more than one in its text. */
const TITLE_WEIGHT = 8
const COUNT_MAX = 5

/** The tools that read the documentation. */
export const DOCS_TOOLS: readonly Tool[] = [
  {
    name: 'search_docs',
    description:
      'Find sections of the documentation by words: how to write workflows, settings, limits, errors, operating.',
    inputSchema: {
      type: 'object',
      properties: { query: { type: 'string', minLength: 1, maxLength: QUERY_CHARS_MAX } },
      required: ['query'],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: true },
  },
  {
    name: 'read_docs',
    description: 'Read a page of the documentation, or one section of it. Without a page, list the pages.',
    inputSchema: {
      type: 'object',
      properties: {
        page: { type: 'string', description: 'Such as steps.md' },
        section: { type: 'string', description: 'The title of a section of the page' },
      },
      required: [],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: true },
  },
]

interface DocsSection {
  page: string
  title: string
  text: string
}

let pages: Map<string, DocsSection[]> | undefined

/** Returns the result of a tool that reads the documentation; undefined if no such tool is called `name`. */
export function readDocs(name: string, given: Readonly<Record<string, unknown>>): ToolResult | undefined {
  const tool = DOCS_TOOLS.find(each => each.name === name)
  if (!tool) return undefined
  const known = Object.keys(tool.inputSchema.properties as object)
  for (const [key, value] of Object.entries(given)) {
    if (!known.includes(key)) return faultOf(`${quoteName(key)} is not an argument of ${name}${hintFor(key, known)}`)
    if (typeof value !== 'string') return faultOf(`${key} must be a string`)
  }
  pages ??= readPages()
  const { query = '', page, section } = given as Record<string, string>
  if (name === 'search_docs') return search(pages, query)
  return page === undefined ? textResult([...pages.keys()].sort().join('\n')) : read(pages, page, section)
}

function readPages(): Map<string, DocsSection[]> {
  if (!existsSync(FOLDER)) return new Map()
  const names = readdirSync(FOLDER).filter(name => name.endsWith('.md') && name !== 'README.md')
  return new Map(names.map(name => [name, sectionsOf(name, readFileSync(new URL(name, FOLDER), 'utf8'))]))
}

/** The sections of a page. A `#` in a code block is not a heading. */
function sectionsOf(page: string, text: string): DocsSection[] {
  const sections: DocsSection[] = []
  let isCode = false
  for (const line of text.split('\n')) {
    if (line.trimStart().startsWith('```')) isCode = !isCode
    const title = isCode ? undefined : /^#{1,3} (.+)$/.exec(line)?.[1]
    const last = sections.at(-1)
    if (title !== undefined || !last) sections.push({ page, title: title ?? page, text: line })
    else last.text += `\n${line}`
  }
  return sections
}

function search(all: ReadonlyMap<string, DocsSection[]>, query: string): ToolResult {
  const terms = (
    cutText(query, QUERY_CHARS_MAX)
      .toLowerCase()
      .match(/[\p{L}\p{N}_-]+/gu) ?? []
  ).slice(0, TERMS_MAX)
  if (terms.length === 0) return faultOf('query must contain at least one word')
  const found = [...all.values()]
    .flat()
    .map(section => ({ section, score: scoreOf(section, terms) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, FOUND_MAX)
  if (found.length === 0) return textResult('Nothing found. read_docs without arguments lists the pages.')
  const lines = found.map(({ section: { page, title, text } }) => {
    const excerpt = cutText(text, EXCERPT_CHARS).replace(/\s+/g, ' ')
    return `read_docs ${JSON.stringify({ page, section: title })}\n  ${excerpt}`
  })
  return textResult(lines.join('\n'))
}

/** Sections with more of the terms come first. */
function scoreOf({ page, title, text }: DocsSection, terms: readonly string[]): number {
  const head = `${page} ${title}`.toLowerCase()
  const body = text.toLowerCase()
  const scores = terms.map(
    term => (head.includes(term) ? TITLE_WEIGHT : 0) + Math.min(COUNT_MAX, body.split(term).length - 1),
  )
  return scores.reduce((sum, score) => sum + score, 0) * scores.filter(score => score > 0).length
}

function read(all: ReadonlyMap<string, DocsSection[]>, page: string, section: string | undefined): ToolResult {
  const sections = all.get(page)
  if (!sections) return faultOf(`there is no page ${quoteName(page)}${hintFor(page, [...all.keys()])}`)
  const wanted = section === undefined ? sections : sections.filter(({ title }) => title === section)
  const titles = sections.map(({ title }) => title)
  if (wanted.length === 0)
    return faultOf(`${page} has no section ${quoteName(section as string)}; its sections: ${titles.join(' | ')}`)
  const text = wanted.map(each => each.text).join('\n')
  if (text.length <= BLOCK_CHARS_MAX) return textResult(text)
  return textResult(`${cutText(text, BLOCK_CHARS_MAX)}\n\n(cut) Sections of ${page}: ${titles.join(' | ')}`)
}
