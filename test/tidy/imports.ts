// Reads the relative imports of the repository's own source files, types included, for the checks of the structure.

import { posix } from 'node:path'
import type { TidyFile } from './files.ts'

const RELATIVE_IMPORT = /(?:\bfrom\s*|\bimport\s*\(\s*|\bimport\s+)'(\.{1,2}\/[^']+)'/g

/** The imported paths among the given files, by path of the importing file. */
export function importGraph(files: readonly TidyFile[]): ReadonlyMap<string, readonly string[]> {
  const paths = new Set(files.map(({ path }) => path))
  return new Map(
    files.map(({ path, text }) => {
      const targets = [...text.matchAll(RELATIVE_IMPORT)].map(([, to = '']) => posix.join(posix.dirname(path), to))
      return [path, [...new Set(targets.filter(target => paths.has(target)))]]
    }),
  )
}

/** The same imports between the files' folders, without imports inside one folder. */
export function folderGraph(graph: ReadonlyMap<string, readonly string[]>): ReadonlyMap<string, readonly string[]> {
  const folders = new Map<string, Set<string>>()
  for (const [path, targets] of graph) {
    const from = posix.dirname(path)
    const known = folders.get(from) ?? new Set()
    folders.set(from, known)
    for (const target of targets) if (posix.dirname(target) !== from) known.add(posix.dirname(target))
  }
  return new Map([...folders].map(([folder, targets]) => [folder, [...targets]]))
}

/** The cycles of a graph, each as its nodes in order, joined by arrows. Empty if there is none. */
export function circlesOf(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const circles: string[] = []
  const done = new Set<string>()
  const path: string[] = []
  const visit = (node: string) => {
    if (done.has(node)) return
    const start = path.indexOf(node)
    if (start >= 0) {
      circles.push([...path.slice(start), node].join(' -> '))
      return
    }
    path.push(node)
    for (const target of graph.get(node) ?? []) visit(target)
    path.pop()
    done.add(node)
  }
  for (const node of graph.keys()) visit(node)
  return circles
}
