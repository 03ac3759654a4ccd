import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Edge, layoutOf, neighbourOf } from './layout.ts'

const edges = (...texts: string[]): Edge[] =>
  texts.map(text => {
    const [from = '', to = ''] = text.split('>')
    return { from, to }
  })
const placesOf = (ids: string, ...texts: string[]) =>
  Object.fromEntries([...layoutOf([...ids], edges(...texts)).places].map(([id, { layer, row }]) => [id, [layer, row]]))

test('a parent stands in the middle of its children, one column to the left', () => {
  expect(placesOf('abcd', 'a>b', 'a>c', 'c>d')).toEqual({ a: [0, 0.5], b: [1, 0], c: [1, 1], d: [2, 1] })
  expect(layoutOf([...'abcd'], edges('a>b', 'a>c', 'c>d'))).toMatchObject({ layers: 3, rows: 2 })
})

test('what led to the root stands to its left, and several stand below each other', () => {
  expect(placesOf('abp', 'a>b', 'p>a')).toEqual({ p: [0, 0], a: [1, 0], b: [2, 0] })
  expect(placesOf('apq', 'p>a', 'q>a')).toEqual({ a: [1, 0], p: [0, 0], q: [0, 1] })
})

test('what led to a node within the tree stands beside its parent where there is room', () => {
  expect(placesOf('abcp', 'a>b', 'a>c', 'p>c')).toEqual({ a: [0, 0.5], b: [1, 0], c: [1, 1], p: [0, 2] })
})

test('an edge between nodes that have places, a circle and an edge to nobody change no place', () => {
  const tree = ['a>b', 'b>c']
  expect(placesOf('abc', ...tree, 'a>c', 'c>a', 'c>b', 'c>x', 'a>a')).toEqual(placesOf('abc', ...tree))
})

test('no node and a single node', () => {
  expect(layoutOf([], [])).toEqual({ places: new Map(), layers: 0, rows: 0 })
  expect(layoutOf(['a'], [])).toEqual({ places: new Map([['a', { layer: 0, row: 0 }]]), layers: 1, rows: 1 })
})

test('every node of a random graph has a place of its own within the layout', () => {
  const id = fc.integer({ min: 0, max: 11 }).map(String)
  fc.assert(
    fc.property(fc.uniqueArray(id), fc.array(fc.record({ from: id, to: id })), (ids, drawn) => {
      const { places, layers, rows } = layoutOf(ids, drawn)
      expect([...places.keys()].sort()).toEqual([...ids].sort())
      const all = [...places.values()]
      for (const [i, one] of all.entries()) {
        expect(one.layer >= 0 && one.layer < layers && one.row >= 0 && one.row <= rows - 1).toBe(true)
        for (const other of all.slice(i + 1))
          expect(one.layer !== other.layer || Math.abs(one.row - other.row) >= 1).toBe(true)
      }
    }),
  )
})

test('arrow keys lead along the edges, and to the next node of the column', () => {
  const all = edges('a>b', 'a>c', 'a>d', 'c>e')
  const layout = layoutOf([...'abcde'], all)
  const go = (id: string, key: string) => neighbourOf(id, key, all, layout)
  expect([go('a', 'ArrowRight'), go('c', 'ArrowLeft'), go('a', 'ArrowLeft')]).toEqual(['b', 'a', undefined])
  expect([go('b', 'ArrowDown'), go('c', 'ArrowDown'), go('d', 'ArrowDown')]).toEqual(['c', 'd', undefined])
  expect([go('d', 'ArrowUp'), go('x', 'ArrowUp'), go('a', 'Enter')]).toEqual(['c', undefined, undefined])
})
