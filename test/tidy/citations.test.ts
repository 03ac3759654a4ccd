// No dead references: every page that a source file or another page names exists, with the heading that is named.

import { posix } from 'node:path'
import { describe, expect, it } from 'vitest'
import { allPaths, filesLike, type TidyFile } from './files.ts'
import { anchorsOf, linksOf } from './markdown.ts'

const paths = allPaths()
const pages = filesLike(/\.md$/)
const sources = filesLike(/\.(ts|tsx|mjs|js|cjs|sql|ya?ml)$|(^|\/)(Dockerfile|run)$/)
const anchors = new Map(pages.map(({ path, text }) => [path, anchorsOf(text)]))

/** A page of `docs` or of the root anywhere in a text, with its heading if there is one. Not a part of another path. */
const CITATION = /(?<![\w./-])(?:docs\/[\w/-]+|ARCHITECTURE|CHANGELOG|CONTRIBUTING|README)\.md(?:#[\w-]+)?/g

/** Why `target` leads nowhere. Undefined if it leads somewhere. */
function fault(target: string): string | undefined {
  const [path = '', slug] = target.split('#')
  if (!paths.has(path)) return `there is no ${path}`
  if (slug !== undefined && !anchors.get(path)?.has(slug)) return `${path} has no heading #${slug}`
  return undefined
}

function faults(files: readonly TidyFile[], targetsOf: (file: TidyFile) => string[]): string[] {
  return files.flatMap(file =>
    [...new Set(targetsOf(file))].flatMap(target => {
      const why = fault(target)
      return why === undefined ? [] : [`${file.path}: ${target}: ${why}`]
    }),
  )
}

describe('every reference leads somewhere', () => {
  it('of the pages that sources cite', () => {
    expect(faults(sources, ({ text }) => text.match(CITATION) ?? [])).toEqual([])
  })

  it('of the pages that pages cite', () => {
    expect(faults(pages, ({ text }) => text.match(CITATION) ?? [])).toEqual([])
  })

  it('of the links between pages', () => {
    const relative = ({ path, text }: TidyFile) =>
      linksOf(text)
        .filter(link => !/^[a-z][a-z+.-]*:/i.test(link))
        .map(link => (link.startsWith('#') ? path + link : posix.join(posix.dirname(path), link)))
        .map(target => target.replace(/\/(?=#|$)/, ''))
    expect(faults(pages, relative)).toEqual([])
  })
})

describe('the check itself', () => {
  const page = "# Run `GET /runs/{id}`\n\n## A\n\n```sh\n# not a heading\n```\n\n## A\n\n### It's [b](c.md), d\n"

  it('names headings as GitHub does, repeated ones too', () => {
    expect([...anchorsOf(page)]).toEqual(['run-get-runsid', 'a', 'a-1', 'its-b-d'])
  })

  it('finds links, and none in code', () => {
    expect(linksOf(`${page}[x](y.md#z) \`[no](n.md)\``)).toEqual(['c.md', 'y.md#z'])
  })

  it('finds citations in comments, and what is wrong with them', () => {
    const [none, noHeading, good] = ['none.md', 'errors.md#none', 'errors.md#errors-of-runs'].map(
      page => `docs/${page}`,
    )
    const text = `// why: ${none}, and ${noHeading} and ${good}.`
    expect(faults([{ path: 'a.ts', text }], file => file.text.match(CITATION) ?? [])).toEqual([
      `a.ts: ${none}: there is no ${none}`,
      `a.ts: ${noHeading}: docs/errors.md has no heading #none`,
    ])
  })
})
