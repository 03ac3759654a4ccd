// `perdure runs list|get`: lists runs, shows one run.

import { type Attributes, elapsedText, type ListedRun, type Run, type WaitingFor } from '@perdure/protocol'
import type { Command } from 'commander'
import type { EngineContext, EngineOptions } from '../../command-line/commands.ts'
import { pageUrl } from '../../command-line/console-url.ts'
import { listCommand, showCommand } from '../../command-line/operation.ts'
import { details } from '../../output/details.ts'
import { detailLines, errorHead, errorNote, stackLines } from '../../output/errors.ts'
import { workflowCell } from '../../output/table.ts'
import { withAge } from '../../output/time.ts'

/** The help of `--deep` in every command that has `--query`. */
export const DEEP_TEXT = 'extend --query to event names, attributes, inputs, results and errors'

/** Adds `list` and `get` to `perdure runs`. */
export function readCommands(runs: Command): void {
  listCommand(runs, 'list', {
    operation: 'listRuns',
    description: 'list runs, newest first',
    examples: [
      'perdure runs list --workflow order --status queued,waiting',
      'perdure runs list --status failed --since 2h',
      'perdure runs list --waiting-for concurrency --position',
      'perdure runs list --attribute customer:c-17 --attribute plan:pro',
      'perdure runs list --query ada@example.org --deep',
      'perdure runs list --limit 1000 --json | jq -r .id',
    ],
    rows: 'runs',
    texts: {
      deep: DEEP_TEXT,
      partial: 'let a long search take many requests, instead of giving up after 5 s',
      position: 'show the queue position of each run that a limit or a throttle holds',
    },
    columns: [
      'id',
      'status',
      { title: 'WORKFLOW', cell: workflowCell },
      { field: 'app', leave: 1 },
      { field: 'createdAt', leave: 3 },
      { title: 'TOOK', cell: took, leave: 2 },
      { title: 'NOTE', cell: runNote },
    ],
  })
  showCommand(runs, 'get', {
    operation: 'getRun',
    description: 'show one run, with its input and result',
    examples: ['perdure runs get run_01K...', 'perdure runs get run_01K... --json | jq .result'],
    lines: runDetails,
  })
}

export const took = ({ durationMs }: { durationMs?: number }) =>
  durationMs === undefined ? undefined : elapsedText(durationMs)

function runNote({ error, waitingFor, currentStepName, position }: ListedRun): string | undefined {
  const ahead = position === undefined ? '' : `, ${position} ahead`
  const waits = waiting(waitingFor)
  return error ? errorNote(error) : (waitingFor?.error ?? (waits && waits + ahead) ?? currentStepName)
}

function runDetails(run: Run, { options, terminal }: EngineContext<EngineOptions>): string[] {
  const trigger = run.triggerKind === 'cron' ? run.cron : [run.eventName, run.eventId].filter(Boolean).join(' ')
  return details(
    {
      lines: [
        ['run', run.id],
        ['status', run.status],
        ['workflow', workflowCell(run)],
        ['app', run.app],
        ['runner', run.runner],
        ['trigger', trigger ? `${run.triggerKind} ${trigger}` : run.triggerKind],
        ['events', run.eventIds && idsText(run.eventIds)],
        ['replay of', run.replayOf],
        ['continues', run.continuedFrom],
        ['continued as', run.continuedAs],
        ['parent', run.parentRunId],
        ['attempt', String(run.attempt)],
        ['created', withAge(run.createdAt)],
        ['started', withAge(run.startedAt)],
        ['finished', withAge(run.finishedAt)],
        ['took', took(run)],
        ['attributes', run.attributes && attributesText(run.attributes)],
        ...Object.entries(run.budget ?? {}).map(
          ([name, { limit, spent }]) => ['budget', `${spent} of ${limit} ${name}`] as const,
        ),
        ['step', run.currentStepName],
        ['waits for', waiting(run.waitingFor)],
        ['last try', run.waitingFor?.error],
        ['error', run.error && errorHead(run.error)],
        ['console', pageUrl(options.url, run.id)],
      ],
      text: [
        ['detail', run.error && detailLines(run.error)],
        ['stack', run.error && stackLines(run.error)],
      ],
      json: [
        ['progress', run.progress?.value],
        ['input', run.input],
        ['result', run.result],
      ],
    },
    terminal.paint,
  )
}

const IDS_SHOWN = 10

/** The events of a burst or batch; only the first ones if there are many. */
function idsText(ids: readonly string[]): string {
  const more = ids.length - IDS_SHOWN
  return `${ids.slice(0, IDS_SHOWN).join(' ')}${more > 0 ? ` and ${more} more` : ''}`
}

function attributesText(attributes: Attributes): string {
  return Object.entries(attributes)
    .map(([key, value]) => `${key}:${value}`)
    .join(', ')
}

function waiting(what: WaitingFor | undefined): string | undefined {
  if (!what) return undefined
  if (what.kind === 'budget') return `the budget of ${what.runId}: ${what.spent} of ${what.limit} ${what.name} spent`
  const of = what.eventName ?? what.childRunId ?? what.runId ?? what.key ?? what.stepName
  const tries = what.maxAttempts === undefined ? undefined : `(attempt ${what.attempt} of ${what.maxAttempts})`
  return [what.kind, of, tries, what.until && `until ${what.until}`].filter(Boolean).join(' ')
}
