// The tree of a run or an event as a list of branches: the answer of the engine has its nodes level by level. Pure.

import type { TreeNode } from '@perdure/protocol'

/** How a run or an event came of another one: as trees say it, or as the next run of a chain. */
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

/** A node with what came of it, in the order of the answer. */
export interface Branch {
  node: TreeNode
  branches: Branch[]
}

/** The root with everything below it; undefined without a node. */
export function branchesOf({ nodes }: Nodes): Branch | undefined {
  const byId = new Map<string, Branch>()
  for (const node of nodes) {
    const branch: Branch = { node, branches: [] }
    // A run comes of one parent: of a node that is there twice, the first counts.
    if (byId.has(node.id)) continue
    byId.set(node.id, branch)
    if (node.parentId !== undefined) byId.get(node.parentId)?.branches.push(branch)
  }
  const [root] = nodes
  return root && byId.get(root.id)
}

const ENDED: readonly (string | undefined)[] = ['succeeded', 'failed', 'cancelled']

/** The children of a run that a cancel ends with it, and theirs: those that have not ended. */
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
