// `perdure runs why`: explains the state of a run in a sentence, with the facts behind it.

import type { RunExplanation } from '@perdure/protocol'
import type { Command } from 'commander'
import { wholeId } from '../../command-line/ids.ts'
import { engineCommand, show } from '../../command-line/session.ts'
import type { Paint } from '../../output/colour.ts'
import { details } from '../../output/details.ts'
import { errorHead } from '../../output/errors.ts'
import { plain } from '../../output/text.ts'
import { withAge } from '../../output/time.ts'

/** Adds `why` to `perdure runs`. */
export function whyCommand(runs: Command): void {
  const command = runs
    .command('why <id>')
    .description('explain what a run waits for, which runner has it, or how it ended')
  engineCommand(
    command,
    ['perdure runs why run_01K...', 'perdure runs why run_01K... --json | jq -r .sentence'],
    async (session, given = '') => {
      const id = await wholeId(session, given)
      const explanation = await session.client.explainRun({ id }, session)
      return show(session, explanation, () => explained(explanation, session.terminal.paint))
    },
  )
}

function explained(explanation: RunExplanation, paint: Paint): string[] {
  const {
    runId,
    status,
    since,
    wakeAt,
    event,
    children = [],
    blockedBy = [],
    openSteps,
    position,
    runners,
    runner,
    passSince,
    error,
  } = explanation
  const live = runners && [`${runners.live} live`, `${runners.stale} stale`, disconnectedText(runners.disconnected)]
  return [
    plain(explanation.sentence),
    '',
    ...details(
      {
        lines: [
          ['run', runId],
          ['status', `${status} since ${withAge(since)}`],
          ['goes on', withAge(wakeAt)],
          ['event', event && [event.name, event.if && `if ${event.if}`].filter(Boolean).join(' ')],
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
  ]
}

const disconnectedText = (count: number | undefined) => count !== undefined && `${count} disconnected`
