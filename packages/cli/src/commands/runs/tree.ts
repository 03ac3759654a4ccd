// `perdure runs tree` and `perdure events tree`: the runs and events that a run or an event started, indented by level.

import { elapsedText, type Tree, type TreeNode } from '@perdure/protocol'
import type { Command } from 'commander'
import { showCommand } from '../../command-line/operation.ts'
import { plain } from '../../output/text.ts'

/** Adds `tree` to `perdure runs`. */
export function runTreeCommand(runs: Command): void {
  showCommand(runs, 'tree', {
    operation: 'getRunTree',
    description: 'show what a run started: children, forks, emitted events',
    examples: ['perdure runs tree run_01K...', 'perdure runs tree run_01K... --json'],
    lines: treeLines,
  })
}

/** Adds `tree` to `perdure events`. */
export function eventTreeCommand(events: Command): void {
  showCommand(events, 'tree', {
    operation: 'getEventTree',
    description: 'show what an event started: its runs, and theirs',
    examples: ['perdure events tree evt_01K...', 'perdure events tree evt_01K... --json'],
    lines: treeLines,
  })
}

/** Each node after its parent, children in the order of the answer. */
function treeLines({ nodes, truncated }: Tree): string[] {
  const children = new Map<string | undefined, TreeNode[]>()
  for (const node of nodes) children.set(node.parentId, [...(children.get(node.parentId) ?? []), node])
  const lines: string[] = []
  const add = (node: TreeNode): void => {
    lines.push(`${'  '.repeat(node.depth)}${nodeText(node)}`)
    for (const child of children.get(node.id) ?? []) add(child)
  }
  for (const root of children.get(undefined) ?? []) add(root)
  return truncated ? [...lines, '... and more: the tree has more than 8 levels or 500 nodes'] : lines
}

function nodeText({ type, id, via, stepName, name, app, workflow, key, status, durationMs }: TreeNode): string {
  const how = via === 'root' ? undefined : [via, stepName].filter(Boolean).join(' ')
  const what = type === 'event' ? `event ${name}` : `${app}/${workflow}  ${status}`
  const took = durationMs === undefined ? undefined : elapsedText(durationMs)
  const withKey = key === undefined ? undefined : `key ${key}`
  return plain([id, what, withKey, took, how && `(${how})`].filter(Boolean).join('  '))
}
