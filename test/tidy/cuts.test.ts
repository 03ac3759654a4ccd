// One function cuts texts to a length (packages/protocol/src/cut-text.ts). It never leaves half an emoji behind.

import { expect, it } from 'vitest'
import { filesLike } from './files.ts'

const CUT =
  /\.(slice|substring)\(0, (2 \* )?(\w*(CHARS|TEXT|MESSAGE|PEEK|DETAIL)\w*|charsMax)( - 1)?\)|<Visible text=\{[^}]*\.slice\(/

/** Names are compared by their beginnings, and digests are shortened. Neither is a user's text that is shown. */
const NOT_SHOWN = new Set([
  'packages/engine/src/domain/expressions/match.ts',
  'packages/engine/src/domain/registry/newest-definition.ts',
  'packages/engine/src/domain/view/errors/masked-message.ts',
  'packages/engine/src/domain/view/errors/own-stack-frames.ts',
  'packages/engine/src/services/support/pass-tokens.ts',
  'packages/protocol/src/unknown-name.ts',
])

it('no source cuts a text at a length by itself', () => {
  const sources = filesLike(/^packages\/\w+\/src\/.*\.tsx?$/).filter(({ path }) => !NOT_SHOWN.has(path))
  expect(sources.length).toBeGreaterThan(500)
  expect(sources.filter(({ text }) => CUT.test(text)).map(({ path }) => path)).toEqual([])
})
