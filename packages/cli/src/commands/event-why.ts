// `perdure events why`: explains what an event did at each workflow, and why it started nothing there.

import { type EventExplanation, type EventVerdict, matchText } from '@perdure/protocol'
import type { Command } from 'commander'
import { showCommand } from '../command-line/operation.ts'
import { plain } from '../output/text.ts'
import { withAge } from '../output/time.ts'

/** Adds `why` to `perdure events`. */
export function eventWhyCommand(events: Command): void {
  showCommand(events, 'why', {
    operation: 'explainEvent',
    description: 'explain what an event did at each workflow, and why it started nothing there',
    examples: [
      'perdure events why evt_01K...',
      'perdure events why evt_01K... --now',
      'perdure events why evt_01K... --json',
    ],
    texts: { now: 're-evaluate the event against current workflows and runs; nothing is stored' },
    lines: whyLines,
  })
}

function whyLines(why: EventExplanation): string[] {
  const { sentence, name, eventId, decidedAt, now, workflows, woken = [], warnings = [] } = why
  return [
    plain(sentence),
    '',
    plain(`${name}  ${eventId}  decided ${now ? 'now' : withAge(decidedAt)}`),
    ...workflows.flatMap(verdictLines),
    ...woken.map(({ runId, stepName }) => plain(`  woke ${runId}${stepName === undefined ? '' : ` (${stepName})`}`)),
    ...warnings.map(warning => plain(`  warning: ${warning}`)),
  ]
}

function verdictLines({ workflow, app, outcome, sentence, trigger }: EventVerdict): string[] {
  const head = plain(`  ${app}/${workflow}  ${outcome}: ${sentence}`)
  if (outcome !== 'filter' || trigger === undefined) return [head]
  const { if: filter, match } = trigger
  return [
    head,
    ...(match === undefined ? [] : [plain(`    match ${matchText(match)}`)]),
    ...(filter === undefined ? [] : [plain(`    if ${filter}`)]),
  ]
}
