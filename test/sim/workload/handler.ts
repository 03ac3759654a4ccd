// One pass over a workflow: follows its tree along the memo and returns what the handler would do next. This is the part of an
// SDK that decides which steps are new; `runner.ts` carries it out.

import { createHash } from 'node:crypto'
import type { Node, Sequence } from './program.ts'
import type { MemoEntry, StepError } from './wire.ts'

export type Found = Exclude<Node, { kind: 'all' | 'race' | 'caught' | 'log' }>

/** The state of a branch of the handler. */
type Flow =
  | { state: 'done' }
  | { state: 'threw'; error: StepError; stepName: string }
  /** The branch waits for a step that is parked or was found in this same pass. */
  | { state: 'suspended' }

export interface Walked {
  flow: Flow
  /** Steps that are not in the memo, in the order they were met. */
  found: Found[]
  /** Log lines of the handler itself. */
  lines: string[]
}

export function walk(body: Sequence, memo: Readonly<Record<string, MemoEntry>>): Walked {
  const walked: Walked = { flow: { state: 'done' }, found: [], lines: [] }
  walked.flow = sequence(body)
  return walked

  function sequence(nodes: Sequence): Flow {
    for (const node of nodes) {
      const flow = visit(node)
      if (flow.state !== 'done') return flow
    }
    return { state: 'done' }
  }

  function visit(node: Node): Flow {
    switch (node.kind) {
      case 'log':
        walked.lines.push(node.message)
        return { state: 'done' }
      case 'caught': {
        const flow = sequence(node.body)
        return flow.state === 'threw' ? { state: 'done' } : flow
      }
      case 'all': {
        const flows = node.branches.map(sequence)
        return (
          flows.find(flow => flow.state === 'threw') ??
          flows.find(flow => flow.state === 'suspended') ?? { state: 'done' }
        )
      }
      case 'race': {
        const flows = node.branches.map(sequence)
        // Not for each branch: a branch that throws later must not change the result that an earlier pass used.
        return (
          flows.find(flow => flow.state === 'done') ??
          flows.find(flow => flow.state === 'threw') ?? { state: 'suspended' }
        )
      }
      default:
        return step(node)
    }
  }

  function step(node: Found): Flow {
    if (node.kind === 'reply' && updateIdOf(node, memo) === undefined) return { state: 'done' }
    const entry = memo[hashId(node.id)]
    if (entry === undefined) walked.found.push(node)
    if (entry === undefined || entry.pending) return { state: 'suspended' }
    return entry.error === undefined ? { state: 'done' } : { state: 'threw', error: entry.error, stepName: node.name }
  }
}

/** The update that the node answers. Undefined if its wait got a signal or nothing. */
export function updateIdOf(
  { to }: Extract<Node, { kind: 'reply' }>,
  memo: Readonly<Record<string, MemoEntry>>,
): string | undefined {
  const taken = memo[hashId(to)]?.data as { id: string; isUpdate?: true } | null | undefined
  return taken?.isUpdate ? taken.id : undefined
}

const hashes = new Map<string, string>()

/** The id of a step on the wire (docs/wire-protocol.md#step-ids). */
export function hashId(id: string): string {
  let hash = hashes.get(id)
  if (hash === undefined) {
    hash = createHash('sha256').update(id, 'utf8').digest('hex')
    hashes.set(id, hash)
  }
  return hash
}
