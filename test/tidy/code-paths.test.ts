// No dead paths: every module of the engine (`services/event/ingest`) and every file from the root that a comment or page names
// exists.

import { expect, it } from 'vitest'
import { allPaths, filesLike, type TidyFile } from './files.ts'

const paths = allPaths()
const pages = filesLike(/^(ARCHITECTURE|CONTRIBUTING|README)\.md$|^docs\/(decisions\/)?[\w-]+\.md$/)
const sources = filesLike(/\.(ts|tsx|mjs)$/)

/** A module of the engine, or a path from the root, but not a path inside another one, such as an import's. */
const MODULE =
  /(?<![\w./@:-])(?:domain|services|ports|adapters|http|packages|test|bench|scripts|examples|deploy)\/[a-z][\w-]*(?:\/[\w-]+)*(?:\.[a-z]+)*(?![\w*{$<%[(:/-])/g

/** Files that a page asks its reader to write. */
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

/** Comments only, because strings in code contain other kinds of paths, such as request paths. */
const comments = (text: string) => (text.match(/\/\*[\s\S]*?\*\/|(?<![:'"`])\/\/.*$/gm) ?? []).join('\n')

it('in comments', () => {
  expect(deadPaths(sources, comments)).toEqual([])
})

it('in pages', () => {
  expect(deadPaths(pages, text => (text.match(/^```sh$[\s\S]*?^```$|`[^`\n]+`/gm) ?? []).join('\n'))).toEqual([])
})
