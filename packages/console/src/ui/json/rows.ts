// The rows of a JSON tree: the visible members of the unfolded nodes, with the folding rules for large values. The tree
// draws rows instead of nested elements, so that depth costs nothing.

import type { JsonNode } from './parse.ts'
import { sizeOf } from './print.ts'

/** Strings are shown up to this length; the rest on request. */
export const STRING_CHARS_SHOWN = 2048
/** Number of nodes that a tree shows before anything is unfolded by hand. */
export const NODES_SHOWN = 1000
/** Number of levels that are unfolded from the start. */
export const DEPTH_SHOWN = 20
/** Number of members of one node that are shown at once. */
export const MEMBERS_SHOWN = 200

/** The nodes that differ from their first state, by path: `true` means unfolded. `more` is the number of members shown. */
export interface TreeState {
  open: ReadonlyMap<string, boolean>
  more: ReadonlyMap<string, number>
}

export interface TreeRow {
  /** Keys from the root, joined by dots: unique in the tree. */
  path: string
  depth: number
  /** The member's key, or the index in an array. Absent for the root. */
  key?: string | number
  node: JsonNode
  /** Number of members of an object or array. */
  size?: number
  isOpen: boolean
  /** Number of members that are not shown: the row is the button that shows more of them. */
  hidden?: number
}

/** Returns the visible rows, in order. */
export function treeRows(root: JsonNode, state: TreeState): TreeRow[] {
  const rows: TreeRow[] = []
  const left = { nodes: NODES_SHOWN }
  addRow(rows, { path: '', depth: 0, node: root }, { state, left })
  return rows
}

interface Walk {
  state: TreeState
  /** Number of nodes that may still be unfolded without a request. */
  left: { nodes: number }
}

type Place = Pick<TreeRow, 'path' | 'depth' | 'key' | 'node'>

function addRow(rows: TreeRow[], place: Place, walk: Walk): void {
  const { path, depth, node } = place
  const size = sizeOf(node)
  walk.left.nodes--
  const fits = depth === 0 || (depth < DEPTH_SHOWN && Math.min(size ?? 0, MEMBERS_SHOWN) <= walk.left.nodes)
  const isOpen = size !== undefined && size > 0 && (walk.state.open.get(path) ?? fits)
  rows.push({ ...place, isOpen, ...(size === undefined ? {} : { size }) })
  if (!isOpen || size === undefined) return
  const shown = Math.min(size, walk.state.more.get(path) ?? MEMBERS_SHOWN)
  for (let i = 0; i < shown; i++) {
    const member = node.kind === 'object' ? node.members[i] : undefined
    const child = member?.value ?? (node as { items: JsonNode[] }).items[i]
    addRow(
      rows,
      { path: path === '' ? `${i}` : `${path}.${i}`, depth: depth + 1, key: member?.key ?? i, node: child as JsonNode },
      walk,
    )
  }
  if (shown < size) rows.push({ path: `${path}+`, depth: depth + 1, node, isOpen: false, hidden: size - shown })
}
