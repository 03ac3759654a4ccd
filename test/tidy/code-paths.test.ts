// No dead paths: a comment or page that names a module of the engine (`services/event/ingest`), or a file from the root,
// names one that exists.

import { expect, it } from 'vitest'
import { allPaths, filesLike, type TidyFile } from './files.ts'

const paths = allPaths()
const pages = filesLike(/^(ARCHITECTURE|CONTRIBUTING|README)\.md$|^docs\/(decisions\/)?[\w-]+\.md$/)
const sources = filesLike(/\.(ts|tsx|mjs)$/)

/** A module of the engine, or a path from the root; a path that is part of another, such as an import's, is not meant. */
const MODULE =
  /(?<![\w./@:-])(?:domain|services|ports|adapters|http|packages|test|bench|scripts|examples|deploy)\/[a-z][\w-]*(?:\/[\w-]+)*(?:\.[a-z]+)*(?![\w*{$<%[(:/-])/g

/** Files that a page has its reader write. */
const WRITTEN_BY_READERS = new Set(['examples/hello.ts', 'examples/welcome.ts'])

function isThere(path: string): boolean {
  const candidates = [path, `packages/engine/src/${path}`].flatMap(full => [full, `${full}.ts`])
  return candidates.some(full => paths.has(full))
}

function deadPaths(files: readonly TidyFile[], textOf: (text: string) => string): string[] {
  return files.flatMap(({ path, text }) =>
    [...new Set(textOf(text).match(MODULE) ?? [])]
      .filter(module => !isThere(module) && !WRITTEN_BY_READERS.has(module))
      .map(module => `${path}: there is no ${module}`),
  )
}

/** Comments only: the strings of code have paths of other kinds, such as those of requests. */
const comments = (text: string) => (text.match(/\/\*[\s\S]*?\*\/|(?<![:'"`])\/\/.*$/gm) ?? []).join('\n')

it('in comments', () => {
  expect(deadPaths(sources, comments)).toEqual([])
})

it('in pages', () => {
  expect(deadPaths(pages, text => (text.match(/`[^`\n]+`/g) ?? []).join('\n'))).toEqual([])
})
