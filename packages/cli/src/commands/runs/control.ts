// `perdure runs cancel|pause|resume|replay|retry|erase`: act on a run, fork it, or erase it.

import type { RunSummary } from '@perdure/protocol'
import type { Command } from 'commander'
import { type EngineContext, engineCommand, show } from '../../command-line/commands.ts'
import { UsageError } from '../../command-line/flags.ts'
import { checkWait, waitForRuns } from '../../command-line/follow.ts'
import { wholeId } from '../../command-line/ids.ts'
import { doneCommand } from '../../command-line/operation.ts'
import { jsonOption, timeoutOption, type WaitOptions } from '../../command-line/options.ts'
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
    engineCommand<ActOptions>(command, examples, async (context, given = '') => {
      const how = context.options.cleanup === false ? { cleanup: false } : {}
      if (!namesOne(context, given)) return actOnMany(context, { action: verb, ...how })
      const id = await wholeId(context, given)
      if (operation !== 'cancelRun') return showRun(context, await context.client[operation]({ id }, context))
      const body = how.cleanup === undefined ? {} : { body: how }
      return showRun(context, await context.client.cancelRun({ id, ...body }, context))
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
    async (context, given = '') => {
      checkWait(context.options)
      const { input } = context.options
      const body = input === undefined ? {} : { body: { input: await jsonOption('--input', input, context.terminal) } }
      if (!namesOne(context, given)) return actOnMany(context, { action: 'replay', ...body.body })
      const id = await wholeId(context, given)
      return forked(context, await context.client.replayRun({ id, ...body }, context))
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
    async (context, given = '') => {
      checkWait(context.options)
      const { step } = context.options
      if (!namesOne(context, given)) {
        if (step !== undefined)
          throw new UsageError('--step needs a run id; many runs are retried from the step that failed')
        return actOnMany(context, { action: 'retry-failed-step' })
      }
      const id = await wholeId(context, given)
      const body = { step: step ?? (await failedStep(context, id)) }
      return forked(context, await context.client.retryRunFromStep({ id, body }, context))
    },
  )
}

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

/** The step whose failure ended the run. Throws UsageError if the run ended without one. */
async function failedStep(context: EngineContext<ForkOptions>, id: string): Promise<string> {
  const { error } = await context.client.getRun({ id }, context)
  if (error?.stepName === undefined) throw new UsageError(`no step of ${id} has failed: choose one with --step`)
  return error.stepName
}

async function showRun(context: EngineContext<unknown>, run: RunSummary): Promise<undefined> {
  return show(context, run, () => [`${run.id} ${run.status}`])
}

async function forked(context: EngineContext<ForkOptions>, run: RunSummary): Promise<number | undefined> {
  await showRun(context, run)
  return context.options.wait ? waitForRuns(context, [run.id]) : undefined
}
