// `perdure runs cancel|pause|resume|replay|retry`: act on a run, or fork it.

import type { RunSummary } from '@perdure/protocol'
import type { Command } from 'commander'
import { UsageError } from '../../command-line/flags.ts'
import { checkWait, waitForRuns } from '../../command-line/follow.ts'
import { wholeId } from '../../command-line/ids.ts'
import { jsonOption, timeoutOption, type WaitOptions } from '../../command-line/options.ts'
import { engineCommand, type Session, show } from '../../command-line/session.ts'
import { actOnMany, type ManyOptions, manyOptions, namesOne } from './many.ts'

interface ActOptions extends ManyOptions {
  cleanup?: boolean
}

interface ForkOptions extends WaitOptions, ManyOptions {
  input?: string
  step?: string
  wait?: true
}

const ACTIONS = [
  ['cancel', 'cancelRun', 'cancel a run, its running steps and its children; or many runs'],
  ['pause', 'pauseRun', 'pause a run at its next step boundary; or many runs'],
  ['resume', 'resumeRun', 'resume a paused run from its next step; or many runs'],
] as const

const WAIT = ['--wait', 'follow the new run; exit with 1 if it does not succeed'] as const

/** Adds `cancel`, `pause`, `resume`, `replay` and `retry` to `perdure runs`. */
export function controlCommands(runs: Command): void {
  for (const [verb, operation, description] of ACTIONS) {
    const command = manyOptions(runs.command(`${verb} [id]`).description(description))
    if (verb === 'cancel') command.option('--no-cleanup', 'roll nothing back: no cleanup run follows')
    const examples = [`perdure runs ${verb} run_01K...`, `perdure runs ${verb} --workflow process-order --preview`]
    engineCommand<ActOptions>(command, examples, async (session, given = '') => {
      const how = session.options.cleanup === false ? { cleanup: false } : {}
      if (!namesOne(session, given)) return actOnMany(session, { action: verb, ...how })
      const id = await wholeId(session, given)
      if (operation !== 'cancelRun') return showRun(session, await session.client[operation]({ id }, session))
      const body = how.cleanup === undefined ? {} : { body: how }
      return showRun(session, await session.client.cancelRun({ id, ...body }, session))
    })
  }

  const replaying = manyOptions(runs.command('replay [id]'))
    .description('run a finished run again from the start, as a new run; or many runs')
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
      if (!namesOne(session, given)) return actOnMany(session, { action: 'replay', ...body.body })
      const id = await wholeId(session, given)
      return forked(session, await session.client.replayRun({ id, ...body }, session))
    },
  )

  const retrying = manyOptions(runs.command('retry [id]'))
    .description(
      'run a finished run again from a step on, as a new run that keeps earlier results; or many failed runs',
    )
    .option(
      '--step <name>',
      'the step to start from; name:n is the n-th repeat of a name (default: the step that failed)',
    )
    .option(...WAIT)
    .addOption(timeoutOption())
  engineCommand<ForkOptions>(
    retrying,
    ['perdure runs retry run_01K...', 'perdure runs retry run_01K... --step poll:2 --wait'],
    async (session, given = '') => {
      checkWait(session.options)
      const { step } = session.options
      if (!namesOne(session, given)) {
        if (step !== undefined)
          throw new UsageError('--step needs a run id; many runs are retried from the step that failed')
        return actOnMany(session, { action: 'retry-failed-step' })
      }
      const id = await wholeId(session, given)
      const body = { step: step ?? (await failedStep(session, id)) }
      return forked(session, await session.client.retryRunFromStep({ id, body }, session))
    },
  )
}

/** The step whose failure ended the run. Throws UsageError if the run ended without one. */
async function failedStep(session: Session<ForkOptions>, id: string): Promise<string> {
  const { error } = await session.client.getRun({ id }, session)
  if (error?.stepName === undefined) throw new UsageError(`no step of ${id} has failed: choose one with --step`)
  return error.stepName
}

async function showRun(session: Session<unknown>, run: RunSummary): Promise<undefined> {
  return show(session, run, () => [`${run.id} ${run.status}`])
}

async function forked(session: Session<ForkOptions>, run: RunSummary): Promise<number | undefined> {
  await showRun(session, run)
  return session.options.wait ? waitForRuns(session, [run.id]) : undefined
}
