// No reference to pages that a reader of this repository does not have: sections of a specification, lists of decisions,
// numbered promises. Cite a page of `docs` instead.

import { expect, it } from 'vitest'
import { filesLike } from './files.ts'

const files = filesLike(/\.(ts|tsx|mjs|js|cjs|md|sql|ya?ml)$|(^|\/)(Dockerfile|run)$/)

const REFERENCES: Record<string, RegExp> = {
  'a section sign': /\u00a7/,
  'a section of a contract': /\bcontract(?:'s)? (?:section )?\d+\.\d/i,
  'a heading of a list of decisions': /\bdecisions,? "|\(decisions[,:)]|[;,] decisions\)/,
  'a numbered promise': /\bpromises? [A-Z]\d\b/i,
}

it.each(Object.entries(REFERENCES))('no file has %s', (_what, reference) => {
  const found = files.flatMap(({ path, text }) =>
    text.split('\n').flatMap((line, i) => (reference.test(line) ? [`${path}:${i + 1}: ${line.trim()}`] : [])),
  )
  expect(found).toEqual([])
})
