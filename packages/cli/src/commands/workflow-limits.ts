// `perdure workflows limits` and `perdure workflows reset-limits`: set limits of a workflow in place of the registered ones, and
// remove them.

import type { WorkflowDefinition, WorkflowLimits } from '@perdure/protocol'
import type { Command } from 'commander'
import { UsageError } from '../command-line/flags.ts'
import { showCommand } from '../command-line/operation.ts'

/** Adds `limits` and `reset-limits` to `perdure workflows`. */
export function limitCommands(workflows: Command): void {
  showCommand(workflows, 'limits', {
    operation: 'setWorkflowLimits',
    description: 'set limits of a workflow, which count instead of the registered ones',
    examples: [
      'perdure workflows limits shop process-order concurrency=2',
      'perdure workflows limits shop process-order concurrency=none throttle=0',
    ],
    moreArguments: ['limit...'],
    body: (_session, ...given) => Object.fromEntries(given.flat().map(limitOf)) as WorkflowLimits,
    lines: shown,
  })
  showCommand(workflows, 'reset-limits', {
    operation: 'removeWorkflowLimits',
    description: 'remove the limits that were set for a workflow: the registered ones count again',
    examples: ['perdure workflows reset-limits shop process-order'],
    lines: shown,
  })
}

/** The limits that were set, as the command takes them. */
export function limitsText(limits: NonNullable<WorkflowDefinition['limits']>): string[] {
  return Object.entries(limits).map(([name, limit]) => `${name}=${limit}`)
}

function shown({ name, limits = {} }: WorkflowDefinition): string[] {
  const set = limitsText(limits)
  return set.length === 0 ? [`${name} has its registered limits`] : [`${name} ${set.join(' ')}`]
}

/** The name and the limit of `concurrency=2`; `none` is the registered limit. */
function limitOf(text: string): [name: string, limit: number | null] {
  const [, name, value] = /^(concurrency|throttle)=(\d+|none)$/.exec(text) ?? []
  if (name === undefined)
    throw new UsageError(`a limit must be concurrency=NUMBER or throttle=NUMBER, or none for the number: ${text}`)
  return [name, value === 'none' ? null : Number(value)]
}
