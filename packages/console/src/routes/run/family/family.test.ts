import type { TreeNode } from '@perdure/protocol'
import { expect, test } from 'vitest'
import { familyOf, type Relative } from './family.ts'

const node = (id: string, parentId?: string, more: Partial<TreeNode> = {}) =>
  ({
    id,
    parentId,
    via: parentId === undefined ? 'root' : 'child',
    type: 'run',
    workflow: 'order',
    ...more,
  }) as TreeNode
const edgesOf = (...of: Parameters<typeof familyOf>) =>
  familyOf(...of).edges.map(({ from, to, via }) => `${from}>${to} ${via ?? ''}`.trim())

test('runs and events are nodes, and what made them is an edge', () => {
  const tree = [
    node('evt', undefined, { type: 'event', name: 'order.placed' }),
    node('run', 'evt', { via: 'trigger', status: 'failed', durationMs: 20 }),
    node('again', 'run', { via: 'fork' }),
    node('sent', 'run', { type: 'event', name: 'order.done', via: 'emit', stepName: 'tell' }),
  ]
  expect(edgesOf(tree, 'run', [])).toEqual(['evt>run trigger', 'run>again fork', 'run>sent emit'])
  expect(familyOf(tree, 'run', []).nodes).toMatchObject([
    { id: 'evt', type: 'event', name: 'order.placed' },
    { id: 'run', type: 'run', name: 'order', status: 'failed', durationMs: 20 },
    { id: 'again' },
    { id: 'sent', type: 'event', stepName: 'tell' },
  ])
})

const relative = (id: string, via: Relative['via'], isBefore: boolean): Relative => ({
  member: { id, type: 'run' },
  via,
  isBefore,
})

test('runs around the tree are nodes too; one that the tree has gets another edge', () => {
  const tree = [node('root'), node('own', 'root'), node('next', 'root')]
  const relatives = [
    relative('before', 'continued', true),
    relative('next', 'continued', false),
    relative('root', 'child', true),
  ]
  const family = familyOf(tree, 'own', relatives)
  expect(family.nodes.map(({ id }) => id)).toEqual(['root', 'own', 'next', 'before'])
  expect(edgesOf(tree, 'own', relatives)).toEqual([
    'root>own child',
    'root>next child',
    'before>own continued',
    'own>next continued',
  ])
})

test('of many siblings the run itself and failed ones are drawn, and the others are counted', () => {
  const children = Array.from({ length: 40 }, (_, i) => node(`c${i}`, 'root'))
  const tree = [
    node('root'),
    ...children,
    node('own', 'c30'),
    node('bad', 'c20', { status: 'failed' }),
    node('sent', 'c39', { type: 'event', via: 'emit' }),
  ]
  const { nodes, edges } = familyOf(tree, 'own', [])
  const drawn = edges.filter(({ from }) => from === 'root').map(({ to }) => to)
  expect(drawn).toEqual(['c0', 'c1', 'c2', 'c3', 'c4', 'c5', 'c6', 'c7', 'c8', 'c20', 'c30', 'more root'])
  expect(nodes).toContainEqual({ id: 'more root', type: 'more', runs: 29, events: 1 })
  expect(nodes.map(({ id }) => id)).toEqual(expect.arrayContaining(['own', 'bad']))
})

test('twelve siblings are all drawn; without a tree there are the runs around it', () => {
  const tree = [node('root'), ...Array.from({ length: 12 }, (_, i) => node(`c${i}`, 'root'))]
  expect(familyOf(tree, 'root', []).nodes).toHaveLength(13)
  expect(familyOf([], 'own', [relative('p', 'child', true)])).toMatchObject({ edges: [{ from: 'p', to: 'own' }] })
})
