// The tree of a run or an event: the runs and events that it caused (docs/concepts.md#trees). Built level by level by
// services/run/tree; the bounds are here.

import type { Run } from '../model/run.ts'

/** Maximum number of levels below the root. */
export const TREE_DEPTH_MAX = 8
const TREE_NODES_MAX = 500

/** How the parent caused a run or an event. */
export type TreeVia = 'root' | 'child' | 'started' | 'onFailure' | 'cleanup' | 'fork' | 'trigger' | 'emit'

/** The part of a run that a tree shows. */
export type RunOfTree = Pick<
  Run,
  'id' | 'workflow' | 'app' | 'status' | 'createdAt' | 'startedAt' | 'finishedAt' | 'startKey'
>

/** A run with the run or the event that caused it. */
export interface RelatedRun extends RunOfTree {
  of: string
  via: Extract<TreeVia, 'child' | 'started' | 'onFailure' | 'cleanup' | 'fork' | 'trigger'>
  /** The step of the parent that started it. */
  stepName?: string
}

/** An event that a step of a run emitted. */
export interface EmittedEvent {
  id: string
  name: string
  at: number
  /** The run that emitted it. */
  of: string
  stepName: string
}

interface Place {
  parentId?: string
  depth: number
  via: TreeVia
  stepName?: string
}

type Caused = ({ type: 'run' } & RunOfTree) | ({ type: 'event' } & Pick<EmittedEvent, 'id' | 'name' | 'at'>)
export type TreeNode = Place & Caused

/** A tree while it is built: nodes in the order of their levels, each once. */
export class TreeDraft {
  readonly nodes: TreeNode[] = []
  readonly #depths = new Map<string, number>()
  /** Whether a bound excluded nodes. */
  truncated = false

  /** Adds the root. */
  constructor(root: Caused) {
    this.nodes.push({ ...root, depth: 0, via: 'root' })
    this.#depths.set(root.id, 0)
  }

  get room(): number {
    return TREE_NODES_MAX - this.nodes.length
  }

  addRun({ of, via, stepName, ...run }: RelatedRun): void {
    this.#add({ type: 'run', ...run }, { of, via, stepName })
  }

  addEvent({ of, stepName, ...event }: EmittedEvent): void {
    this.#add({ type: 'event', ...event }, { of, via: 'emit', stepName })
  }

  #add(what: Caused, { of, via, stepName }: { of: string; via: TreeVia; stepName: string | undefined }): void {
    if (this.#depths.has(what.id)) return
    if (this.room === 0) {
      this.truncated = true
      return
    }
    const depth = (this.#depths.get(of) ?? 0) + 1
    this.#depths.set(what.id, depth)
    this.nodes.push({ ...what, parentId: of, depth, via, ...(stepName === undefined ? {} : { stepName }) })
  }
}
