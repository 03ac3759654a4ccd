// The tree of a run or an event as a list of branches: the engine's answer has its nodes level by level. Pure.

import type { TreeNode } from '@perdure/protocol'
import { ENDED } from '../../../ui/status.tsx'

/** How a run or an event was created by another one: as trees say it, or as the next run of a chain. */
export type Relation = TreeNode['via'] | 'continued'

/** The relations in words. */
export const RELATIONS: Readonly<Record<Relation, string>> = {
  root: 'this run',
  child: 'child',
  started: 'started',
  onFailure: 'on failure',
  cleanup: 'cleanup',
  fork: 'replay',
  trigger: 'started',
  emit: 'emitted',
  continued: 'continued',
}

/** The part of an answer that is read here. */
interface Nodes {
  nodes: readonly TreeNode[]
}

/** A node with the nodes that it created, in the order of the answer. */
export interface Branch {
  node: TreeNode
  branches: Branch[]
}

/** Builds the tree and returns its root. Returns undefined for an empty list. */
export function branchesOf({ nodes }: Nodes): Branch | undefined {
  const byId = new Map<string, Branch>()
  for (const node of nodes) {
    const branch: Branch = { node, branches: [] }
    // A run has one parent: if a node is there twice, the first counts.
    if (byId.has(node.id)) continue
    byId.set(node.id, branch)
    if (node.parentId !== undefined) byId.get(node.parentId)?.branches.push(branch)
  }
  const [root] = nodes
  return root && byId.get(root.id)
}

/** Returns how many open descendants of a run end with it when it is cancelled. */
export function openDescendants({ nodes }: Nodes): number {
  const below = new Set(nodes.slice(0, 1).map(({ id }) => id))
  let open = 0
  for (const { id, parentId, via, status } of nodes) {
    if (via !== 'child' || parentId === undefined || !below.has(parentId)) continue
    below.add(id)
    if (!ENDED.includes(status)) open++
  }
  return open
}
