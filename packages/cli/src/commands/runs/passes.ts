// `perdure runs passes`: lists the calls of a run to its runners.

import { elapsedText, type PassRecord } from '@perdure/protocol'
import type { Command } from 'commander'
import { listCommand } from '../../command-line/operation.ts'
import { colourOf } from '../../output/colour.ts'
import { errorNote } from '../../output/errors.ts'

/** Adds `passes` to `perdure runs`. */
export function passesCommand(runs: Command): void {
  listCommand(runs, 'passes', {
    operation: 'listRunPasses',
    description: "list a run's passes: the calls to its runners, oldest first",
    examples: ['perdure runs passes run_01K...', 'perdure runs passes run_01K... --json | jq .error'],
    rows: 'passes',
    none: 'no passes yet',
    columns: [
      { field: 'pass', title: '#' },
      'runner',
      { title: 'OUTCOME', cell: ({ outcome }) => ({ text: outcome, colour: colourOf(outcome) }), whole: true },
      { field: 'attempt', leave: 2 },
      { field: 'sentAt', leave: 1 },
      { title: 'TOOK', cell: took, leave: 3 },
      { title: 'NOTE', cell: note },
    ],
  })
}

function took({ sentAt, answeredAt }: PassRecord): string | undefined {
  return answeredAt === undefined ? undefined : elapsedText(Date.parse(answeredAt) - Date.parse(sentAt))
}

function note({ error, steps }: PassRecord): string | undefined {
  return error ? errorNote(error) : steps.map(({ name }) => name).join(', ')
}
