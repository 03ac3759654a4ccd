// `perdure runs erase`: erases a finished run for good.

import type { Command } from 'commander'
import { doneCommand } from '../../command-line/operation.ts'

/** Adds `erase` to `perdure runs`. */
export function eraseCommand(runs: Command): void {
  doneCommand(runs, 'erase', {
    operation: 'eraseRun',
    description: 'erase a finished run with its steps, logs and payloads, for good',
    examples: ['perdure runs erase run_01K...'],
    confirm: ({ id }) => `Erase ${id} for good?`,
    done: 'erased',
    line: ({ id }) => `${id} is erased`,
  })
}
