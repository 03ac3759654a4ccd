// The structure that ARCHITECTURE.md describes: layers and folders in the order of the page, no import cycles, bounds on folders,
// files and functions.

import { posix } from 'node:path'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { filesLike, type TidyFile } from './files.ts'
import { circlesOf, folderGraph, importGraph } from './imports.ts'

const FOLDER_FILES_MAX = 22
const FILE_LINES_MAX = 400
const FUNCTION_LINES_MAX = 80

const ENGINE = 'packages/engine/src/'

const page = filesLike(/^ARCHITECTURE\.md$/)[0]?.text ?? ''

/** Rooms in the order of the page, by root. Each may import only the rooms before it. */
const ORDERS: Record<string, readonly string[]> = {
  [`${ENGINE}domain/`]: roomsInLine('domain'),
  [`${ENGINE}services/`]: roomsInLine('services'),
  'packages/console/src/': roomsInBlock('packages/console/src/'),
  'packages/sdk/src/': roomsInBlock('packages/sdk/src/'),
}

/** The rooms that the page lists after the name of a layer: `text · model · ...`. */
function roomsInLine(layer: string): string[] {
  const [, rest = ''] = page.split(`\n    ${layer}/`)
  const [list = ''] = rest.match(/[\w-]+(?:\s+·\s+[\w-]+)+/) ?? []
  return list.split(/\s+·\s+/)
}

/** The rooms in the page's block that begins with `root`, with one or more rooms per line. */
function roomsInBlock(root: string): string[] {
  const [, block = ''] = page.split(`\n${root}\n`)
  const [lines = ''] = block.split('```')
  return lines.split('\n').flatMap(line => {
    const [, names = ''] = line.match(/^ +((?:[\w/-]+\/ )+)/) ?? []
    return names
      .split(' ')
      .filter(Boolean)
      .map(name => name.slice(0, -1))
  })
}

/** The layers that each layer of the engine may import. Files next to the layers assemble the engine. */
const LAYERS: Record<string, readonly string[]> = {
  base: [],
  domain: [],
  ports: ['domain'],
  services: ['base', 'domain', 'ports'],
  adapters: ['base', 'domain', 'ports'],
  http: ['base', 'domain', 'ports', 'services'],
}

/** The packages that each package may import. */
const PACKAGES: Record<string, readonly string[]> = {
  protocol: [],
  client: ['protocol'],
  engine: ['protocol'],
  sdk: ['protocol', 'client', 'engine'],
  cli: ['protocol', 'client', 'engine', 'sdk'],
  console: ['protocol', 'client'],
}

const isTest = (path: string) => /\.(test|testkit)\.ts$|\/testkit\//.test(path)
const sources = filesLike(/\.(ts|tsx|mjs)$/)
const code = sources.filter(({ path }) => /^packages\/[^/]+\/src\//.test(path) && !isTest(path))
const graph = importGraph(code)
const imports = [...graph].flatMap(([from, targets]) => targets.map(to => ({ from, to })))

/** The room of a path below `root`: the deepest match in the order. Undefined outside `root` and for files directly in it. */
function roomOf(root: string, order: readonly string[], path: string): string | undefined {
  const folder = folderBelow(root, path)
  if (folder === undefined) return undefined
  const fits = order.filter(room => path.startsWith(`${root}${room}/`))
  return fits.sort((a, b) => b.length - a.length)[0] ?? folder
}

/** The first folder of a path below `root`. Undefined outside `root` and for files directly in it. */
function folderBelow(root: string, path: string): string | undefined {
  if (!path.startsWith(root)) return undefined
  const [folder, ...rest] = path.slice(root.length).split('/')
  return rest.length === 0 ? undefined : folder
}

/** Imports of rooms that come later in the order, and folders that the order does not name. */
function upwardImports(root: string, order: readonly string[]): string[] {
  return imports.flatMap(({ from, to }) => {
    const [own, other] = [roomOf(root, order, from), roomOf(root, order, to)]
    if (own === undefined || other === undefined) return []
    const isInOrder = order.includes(own) && order.indexOf(other) <= order.indexOf(own)
    return isInOrder && order.includes(other) ? [] : [`${from} imports ${to}`]
  })
}

/** Imports from one folder below `root` into another that `allowed` does not list. */
function forbiddenImports(root: string, allowed: Record<string, readonly string[]>): string[] {
  return imports.flatMap(({ from, to }) => {
    const [own, other] = [folderBelow(root, from), folderBelow(root, to)]
    if (own === undefined || own === other || allowed[own] === undefined) return []
    return other !== undefined && allowed[own].includes(other) ? [] : [`${from} imports ${to}`]
  })
}

describe('imports', () => {
  it.each(Object.entries(ORDERS))('point down within %s', (root, order) => {
    expect(order.length).toBeGreaterThan(8)
    expect(upwardImports(root, order)).toEqual([])
  })

  it("point down between the engine's layers", () => {
    expect(forbiddenImports(ENGINE, LAYERS)).toEqual([])
  })

  it('point down between packages', () => {
    const wrong = code.flatMap(({ path, text }) => {
      const own = folderBelow('packages/', path) as string
      const names = [...text.matchAll(/(?:from |import\()'@perdure\/([a-z]+)/g)].map(([, name = '']) => name)
      return names
        .filter(name => name !== own && !PACKAGES[own]?.includes(name))
        .map(name => `${path} imports @perdure/${name}`)
    })
    expect(wrong).toEqual([])
  })

  it('form no circle of files, types included', () => {
    expect(circlesOf(graph)).toEqual([])
  })

  it('form no circle of folders', () => {
    expect(circlesOf(folderGraph(graph))).toEqual([])
  })
})

describe('bounds', () => {
  it(`a folder has at most ${FOLDER_FILES_MAX} files`, () => {
    const counts = new Map<string, number>()
    for (const { path } of sources) {
      const folder = posix.dirname(path)
      counts.set(folder, (counts.get(folder) ?? 0) + 1)
    }
    expect([...counts].filter(([, count]) => count > FOLDER_FILES_MAX)).toEqual([])
  })

  it(`a file has at most ${FILE_LINES_MAX} lines`, () => {
    const long = sources.map(({ path, text }) => [path, text.split('\n').length - 1] as const)
    expect(long.filter(([, lines]) => lines > FILE_LINES_MAX)).toEqual([])
  })

  it(`a function has at most ${FUNCTION_LINES_MAX} lines`, () => {
    expect(code.flatMap(file => longFunctions(file))).toEqual([])
  })
})

/** Functions over the bound, as `path: name (lines)`. */
function longFunctions({ path, text }: TidyFile): string[] {
  if (text.split('\n').length <= FUNCTION_LINES_MAX) return []
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, false)
  const found: string[] = []
  const lineOf = (position: number) => source.getLineAndCharacterOfPosition(position).line
  const visit = (node: ts.Node) => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body) {
      const lines = lineOf(node.end) - lineOf(node.getStart(source)) + 1
      if (lines > FUNCTION_LINES_MAX) found.push(`${path}: ${node.name?.getText(source) ?? 'function'} (${lines})`)
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

describe('the checks themselves', () => {
  const files = (texts: Record<string, string>) => Object.entries(texts).map(([path, text]) => ({ path, text }))

  it('find circles of files and of folders', () => {
    const circle = importGraph(
      files({ 'a/x.ts': "import { y } from '../b/y.ts'", 'b/y.ts': "import type { X } from '../a/x.ts'" }),
    )
    expect(circlesOf(circle)).toEqual(['a/x.ts -> b/y.ts -> a/x.ts'])
    expect(circlesOf(folderGraph(circle))).toEqual(['a -> b -> a'])
  })

  it('find long functions', () => {
    const body = 'x()\n'.repeat(FUNCTION_LINES_MAX)
    expect(longFunctions({ path: 'a.ts', text: `function long() {\n${body}}\n` })).toEqual(['a.ts: long (82)'])
    expect(longFunctions({ path: 'a.ts', text: `function short() {\nx()\n}\n${body}` })).toEqual([])
  })
})
