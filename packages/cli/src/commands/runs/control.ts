// `perdure runs cancel|pause|resume|replay|retry`: act on a run, or fork it.

import type { RunSummary } from '@perdure/protocol'
import type { Command } from 'commander'
import { checkWait, waitForRuns } from '../../command-line/follow.ts'
import { wholeId } from '../../command-line/ids.ts'
import { jsonOption, timeoutOption, type WaitOptions } from '../../command-line/options.ts'
import { engineCommand, type Session, show } from '../../command-line/session.ts'

interface ForkOptions extends WaitOptions {
  input?: string
  step: string
  wait?: true
}

const ACTIONS = [
  ['cancel', 'cancelRun', 'cancel a run, its running steps and its children'],
  ['pause', 'pauseRun', 'pause a run at its next step boundary'],
  ['resume', 'resumeRun', 'resume a paused run from its next step'],
] as const

const WAIT = ['--wait', 'follow the new run; exit with 1 if it does not succeed'] as const

/** Adds `cancel`, `pause`, `resume`, `replay` and `retry` to `perdure runs`. */
export function controlCommands(runs: Command): void {
  for (const [verb, operation, description] of ACTIONS) {
    const command = runs.command(`${verb} <id>`).description(description)
    engineCommand(command, [`perdure runs ${verb} run_01K...`], async (session, given = '') => {
      const id = await wholeId(session, given)
      return showRun(session, await session.client[operation]({ id }, session))
    })
  }

  const replaying = runs
    .command('replay <id>')
    .description('run a finished run again from the start, as a new run')
    .option('--input <json>', 'input of the new run: JSON, @file, or - for standard input (default: the same)')
    .option(...WAIT)
    .addOption(timeoutOption())
  engineCommand<ForkOptions>(
    replaying,
    [
      'perdure runs replay run_01K...',
      `perdure runs replay run_01K... --input '{"amount": 5}' --wait`,
      'perdure runs replay run_01K... --input @input.json',
    ],
    async (session, given = '') => {
      checkWait(session.options)
      const { input } = session.options
      const body = input === undefined ? {} : { body: { input: await jsonOption('--input', input, session.terminal) } }
      const id = await wholeId(session, given)
      return forked(session, await session.client.replayRun({ id, ...body }, session))
    },
  )

  const retrying = runs
    .command('retry <id>')
    .description('run a finished run again from a step on, as a new run that keeps earlier results')
    .requiredOption('--step <name>', 'the step to start from; name:n is the n-th repeat of a name')
    .option(...WAIT)
    .addOption(timeoutOption())
  engineCommand<ForkOptions>(
    retrying,
    ['perdure runs retry run_01K... --step charge-card', 'perdure runs retry run_01K... --step poll:2 --wait'],
    async (session, given = '') => {
      checkWait(session.options)
      const { step } = session.options
      const id = await wholeId(session, given)
      return forked(session, await session.client.retryRunFromStep({ id, body: { step } }, session))
    },
  )
}

async function showRun(session: Session<unknown>, run: RunSummary): Promise<undefined> {
  return show(session, run, () => [`${run.id} ${run.status}`])
}

async function forked(session: Session<ForkOptions>, run: RunSummary): Promise<number | undefined> {
  await showRun(session, run)
  return session.options.wait ? waitForRuns(session, [run.id]) : undefined
}
