// `perdure runs why`: explains the state of a run in a sentence, with the facts behind it.

import { matchText, type RunExplanation } from '@perdure/protocol'
import type { Command } from 'commander'
import { showCommand } from '../../command-line/operation.ts'
import type { Paint } from '../../output/colour.ts'
import { details } from '../../output/details.ts'
import { errorHead } from '../../output/errors.ts'
import { plain } from '../../output/text.ts'
import { withAge } from '../../output/time.ts'

/** Adds `why` to `perdure runs`. */
export function whyCommand(runs: Command): void {
  showCommand(runs, 'why', {
    operation: 'explainRun',
    description: 'explain what a run waits for, which runner has it, or how it ended',
    examples: ['perdure runs why run_01K...', 'perdure runs why run_01K... --json | jq -r .sentence'],
    lines: (why, { terminal }) => whyLines(why, terminal.paint),
  })
}

function whyLines(why: RunExplanation, paint: Paint): string[] {
  const {
    runId,
    status,
    since,
    wakeAt,
    event,
    children = [],
    startedBy,
    deliveredTo,
    started = [],
    blockedBy = [],
    openSteps,
    position,
    runners,
    runner,
    passSince,
    error,
    warnings = [],
  } = why
  const live = runners && [`${runners.live} live`, `${runners.stale} stale`, disconnectedText(runners.disconnected)]
  return [
    plain(why.sentence),
    '',
    ...details(
      {
        lines: [
          ['run', runId],
          ['status', `${status} since ${withAge(since)}`],
          ['continues', withAge(wakeAt)],
          [
            'event',
            event &&
              [event.name, event.match && `match ${matchText(event.match)}`, event.if && `if ${event.if}`]
                .filter(Boolean)
                .join(' '),
          ],
          ['started by', startedBy && `${startedBy.runId} (${startedBy.stepName})`],
          ['event left by', deliveredTo],
          ...started.map(each => ['started', `${each.runId} ${each.status} (${each.stepName})`] as const),
          ...children.map(child => ['child', `${child.runId} ${child.status} (${child.stepName})`] as const),
          ...blockedBy.map(by => ['held by', `${by.runId} since ${withAge(by.since)}`] as const),
          ['before it', position === undefined ? undefined : String(position)],
          ['open steps', openSteps === undefined ? undefined : String(openSteps)],
          ['runner', runner],
          ['called', withAge(passSince)],
          ['runners', live?.filter(Boolean).join(', ')],
          ['error', error && errorHead(error)],
        ],
      },
      paint,
    ),
    ...warnings.map(warning => plain(`warning: ${warning}`)),
  ]
}

const disconnectedText = (count: number | undefined) => count !== undefined && `${count} disconnected`
