import type { TreeNode } from '@perdure/protocol'
import { expect, test } from 'vitest'
import { type Branch, branchesOf, openDescendants } from './tree.ts'

const node = (id: string, parentId: string | undefined, via: TreeNode['via'], status?: TreeNode['status']) =>
  ({ id, parentId, via, status, type: 'run' }) as TreeNode

const NODES = [
  node('root', undefined, 'root', 'running'),
  node('a', 'root', 'child', 'running'),
  node('b', 'root', 'child', 'succeeded'),
  node('fork', 'root', 'fork', 'running'),
  node('a1', 'a', 'child', 'waiting'),
  node('b1', 'b', 'child', 'queued'),
  node('f1', 'fork', 'child', 'running'),
  node('a', 'b', 'fork', 'running'),
  node('lost', 'nobody', 'child', 'running'),
]

test('nodes are gathered below their parents, each once', () => {
  const idsOf = ({ node, branches }: Branch): unknown => [node.id, ...branches.map(idsOf)]
  expect(idsOf(branchesOf({ nodes: NODES }) as Branch)).toEqual([
    'root',
    ['a', ['a1']],
    ['b', ['b1']],
    ['fork', ['f1']],
  ])
  expect(branchesOf({ nodes: [] })).toBeUndefined()
})

test('a cancel ends the children that are open, at every depth, and no fork', () => {
  expect(openDescendants({ nodes: NODES })).toBe(3)
})
