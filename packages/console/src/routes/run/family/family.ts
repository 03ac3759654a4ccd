// The family of a run as nodes and edges: its tree, and the runs around it that the tree does not have. Of many siblings the graph has a
// few, and a node that counts the others. Pure.

import type { TreeNode } from '@perdure/protocol'
import { type Branch, branchesOf, type Relation } from '../model/tree.ts'
import type { Edge } from './layout.ts'

/** Siblings that are drawn at most, with the node that counts the others. */
const SIBLINGS_MAX = 12

/** A run or an event, as a node shows it. */
export interface Member {
  id: string
  type: 'run' | 'event'
  /** The workflow or the event's name; absent until it is read. */
  name?: string | undefined
  status?: string | undefined
  durationMs?: number | undefined
  /** The step of its parent that made it. */
  stepName?: string | undefined
}

/** Stands for runs and events that are not drawn. */
export interface More {
  id: string
  type: 'more'
  runs: number
  events: number
}

export type FamilyNode = Member | More

export interface FamilyEdge extends Edge {
  /** Absent of an edge to a node that counts others. */
  via?: Relation
}

export interface Family {
  nodes: FamilyNode[]
  edges: FamilyEdge[]
}

/** A run beside the tree: one that led to the run, or the one that continues it. */
export interface Relative {
  member: Member
  via: Relation
  /** Whether it came before the run. */
  isBefore: boolean
}

/** The family of the run with the id `own`. */
export function familyOf(tree: readonly TreeNode[], own: string, relatives: readonly Relative[]): Family {
  const family: Family = { nodes: [], edges: [] }
  const root = branchesOf({ nodes: tree })
  if (root) addBranch(family, root, own)
  const known = new Set(family.nodes.map(({ id }) => id))
  for (const { member, via, isBefore } of relatives) {
    const edge = isBefore ? { from: member.id, to: own, via } : { from: own, to: member.id, via }
    if (!known.has(member.id)) family.nodes.push(member)
    known.add(member.id)
    if (!family.edges.some(({ from, to }) => from === edge.from && to === edge.to)) family.edges.push(edge)
  }
  return family
}

function addBranch(family: Family, { node, branches }: Branch, own: string): void {
  family.nodes.push(memberOf(node))
  const shown = shownOf(branches, own)
  for (const branch of shown) {
    family.edges.push({ from: node.id, to: branch.node.id, via: branch.node.via })
    addBranch(family, branch, own)
  }
  if (shown.length === branches.length) return
  const hidden = branches.filter(branch => !shown.includes(branch)).flatMap(nodesOf)
  const runs = hidden.filter(({ type }) => type === 'run').length
  const more: More = { id: `more ${node.id}`, type: 'more', runs, events: hidden.length - runs }
  family.nodes.push(more)
  family.edges.push({ from: node.id, to: more.id })
}

/** The siblings that are drawn: first the way to the run itself, then failures, then the others; in their own order. */
function shownOf(branches: readonly Branch[], own: string): readonly Branch[] {
  if (branches.length <= SIBLINGS_MAX) return branches
  const rank = (branch: Branch) => {
    const below = nodesOf(branch)
    return below.some(({ id }) => id === own) ? 0 : below.some(({ status }) => status === 'failed') ? 1 : 2
  }
  const ranked = branches.map(branch => ({ branch, rank: rank(branch) })).sort((a, b) => a.rank - b.rank)
  const shown = new Set(ranked.slice(0, SIBLINGS_MAX - 1).map(({ branch }) => branch))
  return branches.filter(branch => shown.has(branch))
}

/** A node and all below it. */
const nodesOf = ({ node, branches }: Branch): TreeNode[] => [node, ...branches.flatMap(nodesOf)]

function memberOf({ id, type, name, workflow, status, durationMs, stepName }: TreeNode): Member {
  return { id, type, name: type === 'event' ? name : workflow, status, durationMs, stepName }
}
