// Reads the tree of a run or an event, one level after the other, by seeks in indexes (docs/concepts.md#trees). Called by the
// HTTP routes.

import { TREE_DEPTH_MAX, TreeDraft } from '../../domain/view/tree.ts'
import type { Reads } from '../../ports/store-reads.ts'

/** The run with everything that it caused; undefined when the namespace has no such run. */
export async function treeOfRun(reads: Reads, runId: string): Promise<TreeDraft | undefined> {
  const run = await reads.runOfTree(runId)
  return run && grown(reads, new TreeDraft({ type: 'run', ...run }))
}

/** The same for an event. */
export async function treeOfEvent(reads: Reads, eventId: string): Promise<TreeDraft | undefined> {
  const event = await reads.event(eventId)
  if (!event) return undefined
  const { id, name, receivedAt } = event
  return grown(reads, new TreeDraft({ type: 'event', id, name, at: receivedAt }))
}

async function grown(reads: Reads, tree: TreeDraft): Promise<TreeDraft> {
  let from = 0
  for (let depth = 0; from < tree.nodes.length; depth++) {
    const level = tree.nodes.slice(from)
    from = tree.nodes.length
    const idsOf = (type: 'run' | 'event') => level.filter(node => node.type === type).map(({ id }) => id)
    // At the maximum depth, one further relative shows whether the tree is cut.
    const limit = depth === TREE_DEPTH_MAX ? 1 : tree.room + 1
    const { runs, events } = await reads.relatives({ runIds: idsOf('run'), eventIds: idsOf('event') }, limit)
    if (depth === TREE_DEPTH_MAX) {
      tree.truncated ||= runs.length + events.length > 0
      return tree
    }
    for (const run of runs) tree.addRun(run)
    for (const event of events) tree.addEvent(event)
  }
  return tree
}
