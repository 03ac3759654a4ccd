// `perdure runs budget`: sets limits of the budget of a run, and resumes the runs that wait for it.

import type { Command } from 'commander'
import { UsageError } from '../../../command-line/flags.ts'
import { showCommand } from '../../../command-line/operation.ts'

/** Adds `perdure runs budget` to `perdure runs`. */
export function budgetCommand(runs: Command): void {
  showCommand(runs, 'budget', {
    operation: 'setRunBudget',
    description: 'set limits of the budget of a run, and resume the runs that wait for it',
    examples: ['perdure runs budget run_01K... usd=10', 'perdure runs budget run_01K... usd=10 tokens=none'],
    moreArguments: ['limit...'],
    body: (_context, ...given) => Object.fromEntries(given.flat().map(limitOf)),
    lines: ({ budget, resumed }) => [
      ...Object.entries(budget).map(([name, { limit, spent }]) => `${name} ${spent} of ${limit}`),
      `${resumed} ${resumed === 1 ? 'run' : 'runs'} resumed`,
    ],
  })
}

/** The name and the limit in `usd=10`; `none` removes the limit. */
function limitOf(text: string): [name: string, limit: number | null] {
  const [name = '', value = '', ...rest] = text.split('=')
  const limit = value === 'none' ? null : Number(value)
  if (name === '' || value.trim() === '' || rest.length > 0 || Number.isNaN(limit))
    throw new UsageError(`a limit must be NAME=NUMBER or NAME=none, such as usd=10: ${text}`)
  return [name, limit]
}
