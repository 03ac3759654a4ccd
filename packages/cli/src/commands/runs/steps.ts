// `perdure runs steps`: lists the steps of a run, or shows one of them with its attempts.

import { hashStepId, type StepAttempt, type StepDetail, type StepRecord } from '@perdure/protocol'
import { type Command, Option } from 'commander'
import { type EngineContext, engineCommand, list, show } from '../../command-line/commands.ts'
import { wholeId } from '../../command-line/ids.ts'
import { parametersOf, queryOf } from '../../command-line/parameters.ts'
import type { Paint } from '../../output/colour.ts'
import { details } from '../../output/details.ts'
import { effectText, startText } from '../../output/effects.ts'
import { detailLines, errorHead, errorNote, stackLines } from '../../output/errors.ts'
import type { Column } from '../../output/table.ts'
import { relative, withAge } from '../../output/time.ts'
import { took } from './read.ts'
import { stepNames } from './step-names.ts'

interface StepsOptions {
  status?: StepRecord['status'][]
  query?: string
  summary?: true
  limit?: number
  step?: string
}

/** Number of steps in one request, if the user limits their number. */
const PAGE_MAX = 200

const FILTERS = parametersOf('listRunSteps', { only: ['status', 'q', 'limit'], rows: 'steps' })

/** Adds `steps` to `perdure runs`. */
export function stepsCommand(runs: Command): void {
  const command = runs
    .command('steps <id>')
    .description("list a run's steps in execution order, or show one of them")
    .option('--summary', 'leave out results and stacks, for runs with many steps')
    .addOption(
      new Option(
        '--step <name>',
        'show one step with its attempts: its name (name:1 for the second use) or its id',
      ).conflicts(['status', 'query', 'summary', 'limit']),
    )
  for (const { option } of FILTERS) command.addOption(option)
  engineCommand<StepsOptions>(
    command,
    [
      'perdure runs steps run_01K...',
      'perdure runs steps run_01K... --status failed --summary',
      'perdure runs steps run_01K... --step charge-card',
      'perdure runs steps run_01K... --json | jq .data',
    ],
    async (context, given = '') => {
      const id = await wholeId(context, given)
      return context.options.step === undefined ? listSteps(context, id) : showStep(context, id, context.options.step)
    },
  )
}

async function listSteps(context: EngineContext<StepsOptions>, id: string): Promise<undefined> {
  const { status, query, summary, limit } = context.options
  const fields = summary ? ('summary' as const) : undefined
  const pageSize = limit === undefined ? undefined : Math.min(limit, PAGE_MAX)
  const filters = await queryOf(context, FILTERS)
  const steps = context.client.pages.listRunSteps({ id, ...filters, fields, limit: pageSize }, context)
  if (context.json || limit !== undefined || status || query) {
    return list(context, steps, [INDEX_COLUMN, { field: 'name', title: 'STEP' }, ...STEP_COLUMNS], { limit })
  }
  const all: StepRecord[] = []
  for await (const step of steps) all.push(step)
  const names = stepNames(all)
  const nameOf = (step: StepRecord) => names.get(step.id) ?? step.name
  return list(context, all, [INDEX_COLUMN, { title: 'STEP', cell: nameOf }, ...STEP_COLUMNS])
}

/** The ids of the SDK are hashes; a runner in another language may have others. */
const HASH = /^[0-9a-f]{64}$/

async function showStep(context: EngineContext<StepsOptions>, id: string, wanted: string): Promise<undefined> {
  const stepId = HASH.test(wanted) ? wanted : hashStepId(wanted)
  const step = await context.client.getRunStep({ id, stepId }, context)
  return show(context, step, () => stepDetails(step, context.terminal.paint))
}

function stepDetails(step: StepDetail, paint: Paint): string[] {
  return details(
    {
      lines: [
        ['step', step.name],
        ['id', step.id],
        ['op', step.op],
        ['status', step.status],
        ['started', withAge(step.startedAt)],
        ['finished', withAge(step.finishedAt)],
        ['took', took(step)],
        ['attempt', triesOf(step)],
        ['note', step.error ? undefined : stepNote(step)],
        ...effectLines(step),
        ...step.attempts.map(attempt => [`attempt ${attempt.attempt}`, attemptText(attempt)] as const),
        ['error', step.error && errorHead(step.error)],
      ],
      text: [
        ['detail', step.error && detailLines(step.error)],
        ['stack', step.error && stackLines(step.error)],
      ],
      json: [['data', step.data]],
    },
    paint,
  )
}

/** The effects of an emitted event, a line for each workflow. */
function effectLines({ effects }: StepDetail): [label: string, text: string][] {
  if (effects === undefined) return []
  const { woke, triggered, more } = effects
  return [
    ...triggered.map(({ app, workflow, ...effect }): [string, string] => [
      'triggered',
      `${app}/${workflow}  ${startText(effect)}`,
    ]),
    ...(more === undefined ? [] : [['triggered', `${more} more workflows`] as [string, string]]),
    ...(woke === 0 ? [] : [['woke', String(woke)] as [string, string]]),
  ]
}

/** "2 of 5"; the bound is known after the first failed attempt. */
function triesOf({ attempt, maxAttempts }: StepRecord): string {
  return maxAttempts === undefined ? String(attempt) : `${attempt} of ${maxAttempts}`
}

function attemptText({ status, endedAt, error }: StepAttempt): string {
  return [status, withAge(endedAt), error && errorNote(error)].filter(Boolean).join('  ')
}

const INDEX_COLUMN: Column<StepRecord> = { field: 'index', title: '#' }
const STEP_COLUMNS: Column<StepRecord>[] = [
  { field: 'op', leave: 2 },
  'status',
  { title: 'ATTEMPT', cell: triesOf, leave: 4 },
  { field: 'startedAt', leave: 1 },
  { title: 'TOOK', cell: took, leave: 3 },
  { title: 'NOTE', cell: stepNote },
]

function stepNote(step: StepRecord): string | undefined {
  if (step.error) return errorNote(step.error)
  if (step.nextAttemptAt !== undefined) return `next attempt ${relative(step.nextAttemptAt)}`
  if (step.status === 'waiting' && step.wakeAt !== undefined) return `wakes ${relative(step.wakeAt)}`
  if (step.effects) return [step.eventName, effectText(step.effects)].filter(Boolean).join('  ')
  return (
    step.childRunId ??
    step.startedRunId ??
    step.awaitedRunId ??
    step.eventName ??
    step.emittedEventId ??
    step.deliveryId
  )
}
