// The family of a run as nodes and edges: its tree, and related runs that are not in the tree. If there are many siblings, the
// graph has a few of them, and a node that counts the others. Pure.

import type { TreeNode } from '@perdure/protocol'
import { type Branch, branchesOf, type Relation } from '../model/tree.ts'
import type { Edge } from './layout.ts'

/** Maximum number of siblings drawn, including the node that counts the others. */
const SIBLINGS_MAX = 12

/** A run or an event in the form that a node shows. */
export interface Member {
  id: string
  type: 'run' | 'event'
  /** The workflow's or event's name; absent until it is read. */
  name?: string | undefined
  status?: string | undefined
  durationMs?: number | undefined
  /** The step of its parent that created it. */
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
  /** Absent on an edge to a node that counts others. */
  via?: Relation
}

export interface Family {
  nodes: FamilyNode[]
  edges: FamilyEdge[]
}

/** A run outside the tree: one that led to the run, or the one that continues it. */
export interface Relative {
  member: Member
  via: Relation
  /** Whether it came before the run. */
  isBefore: boolean
}

/** Returns the family of the run with the id `own`. */
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

/** Returns the siblings to draw: first the path to the run itself, then failures, then the others; in their original order. */
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

/** Returns a node and all nodes below it. */
const nodesOf = ({ node, branches }: Branch): TreeNode[] => [node, ...branches.flatMap(nodesOf)]

function memberOf({ id, type, name, workflow, status, durationMs, stepName }: TreeNode): Member {
  return { id, type, name: type === 'event' ? name : workflow, status, durationMs, stepName }
}
