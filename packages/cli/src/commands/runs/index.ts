// `perdure runs`: reads, follows and controls runs.

import type { Command } from 'commander'
import { group } from '../../command-line/commands.ts'
import { bulkReplayCommand } from './bulk-replay.ts'
import { controlCommands, eraseCommand } from './control.ts'
import { errorsCommand } from './errors.ts'
import { exportCommand } from './export.ts'
import { budgetCommand } from './live/budget.ts'
import { callbackCommand, settleCommand } from './live/settle.ts'
import { signalCommands } from './live/signals.ts'
import { outputStreamCommands } from './live/streams.ts'
import { tokenCommand } from './live/token.ts'
import { logsCommand } from './logs.ts'
import { passesCommand } from './passes.ts'
import { readCommands } from './read.ts'
import { resultCommand } from './result.ts'
import { stepsCommand } from './steps.ts'
import { runTreeCommand } from './tree.ts'
import { watchCommand } from './watch.ts'
import { whyCommand } from './why.ts'

/** Adds `perdure runs` to the program. */
export function runsCommands(program: Command): void {
  const runs = group(program, 'runs', {
    description: 'list, read, follow and control runs',
    examples: ['perdure runs list --status failed', 'perdure runs watch run_01K...'],
  })
  readCommands(runs)
  stepsCommand(runs)
  passesCommand(runs)
  runTreeCommand(runs)
  resultCommand(runs)
  whyCommand(runs)
  logsCommand(runs)
  outputStreamCommands(runs)
  watchCommand(runs)
  controlCommands(runs)
  bulkReplayCommand(runs)
  errorsCommand(runs)
  callbackCommand(runs)
  signalCommands(runs)
  settleCommand(runs)
  budgetCommand(runs)
  tokenCommand(runs)
  eraseCommand(runs)
  exportCommand(runs)
}
