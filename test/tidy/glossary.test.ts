// Every term of the glossary names a type that exists in the folder it names, and no term occurs twice.

import { expect, it } from 'vitest'
import { filesLike } from './files.ts'

const sources = filesLike(/^(?:packages\/[^/]+\/src|prove|test\/(?:kit|sim))\/.*(?<!\.test|\.testkit)\.ts$/)

const rows = filesLike(/^docs\/glossary\.md$/).flatMap(({ text }) =>
  [...text.matchAll(/^\| ([^|]+) \| [^|]+ \| `(\w+)` \| `([\w/]+)` \|$/gm)].map(
    ([, term = '', type = '', folder = '']) => ({ term, type, folder }),
  ),
)

const isDeclared = ({ type, folder }: { type: string; folder: string }) => {
  const declaration = new RegExp(`^(?:export )?(?:abstract )?(?:class|interface|type) ${type}\\b`, 'm')
  return sources.some(({ path, text }) => path.startsWith(`${folder}/`) && declaration.test(text))
}

it('names a type in its folder for each term', () => {
  expect(rows.length).toBeGreaterThan(60)
  expect(rows.filter(row => !isDeclared(row))).toEqual([])
})

it('defines each term once', () => {
  expect(rows.map(({ term }) => term).filter((term, i, terms) => terms.indexOf(term) !== i)).toEqual([])
})

it('reads every row of the page', () => {
  const [page] = filesLike(/^docs\/glossary\.md$/)
  const lines = page?.text.split('\n').filter(line => /^\| (?!term|---)/.test(line))
  expect(rows).toHaveLength(lines?.length ?? 0)
})
