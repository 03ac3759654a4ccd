// `perdure events`: sends events, lists the event log, and follows it live.

import { cutText, type Duration, type EventRecord, type SendEventReply } from '@perdure/protocol'
import { type Command, Option } from 'commander'
import { type EngineContext, type EngineOptions, group, show, stream } from '../command-line/commands.ts'
import { pageUrl } from '../command-line/console-url.ts'
import { EXIT } from '../command-line/exit.ts'
import { checkWait, waitForRuns } from '../command-line/follow.ts'
import { listCommand, operationCommand, showCommand } from '../command-line/operation.ts'
import { attributesOf, attributesOption, jsonOption, timeoutOption, type WaitOptions } from '../command-line/options.ts'
import { details } from '../output/details.ts'
import { stringifyDigits } from '../output/digits.ts'
import { effectText, startText } from '../output/effects.ts'
import { TOKEN_TEXT, tokenLines } from '../output/run-token.ts'
import { plain } from '../output/text.ts'
import { withAge } from '../output/time.ts'
import { eventLine, gapLine } from '../output/timeline.ts'
import { eventWhyCommand } from './event-why.ts'
import { redriveCommand } from './redrive.ts'
import { eventTreeCommand } from './runs/tree.ts'
import { scheduledCommands } from './scheduled-events.ts'
import { sendManyCommand } from './send-many.ts'

interface SendOptions extends WaitOptions {
  data?: string
  app?: string
  dedupeId?: string
  runner?: string
  targetApp?: string
  at?: string
  delay?: Duration
  attribute?: string[]
  wait?: true
}

/** Adds `perdure events names`. */
function namesCommand(events: Command): void {
  listCommand(events, 'names', {
    operation: 'listEventNames',
    description: 'list the names that events have, in alphabetical order',
    examples: ['perdure events names --prefix order/', 'perdure events names --since 24h'],
    rows: 'names',
    columns: ['name', 'count', 'lastAt', { field: 'lastEventId', title: 'EVENT' }],
  })
}

/** Adds `perdure events` to the program. */
export function eventsCommands(program: Command): void {
  const events = group(program, 'events', {
    description: 'send, list and follow events',
    examples: [`perdure events send user.signed-up --data '{"name": "Ada"}' --wait`],
  })

  sendCommand(events)
  sendManyCommand(events)

  listCommand(events, 'list', {
    operation: 'listEvents',
    description: 'list events, newest first',
    examples: ['perdure events list --name order.placed', 'perdure events list --limit 500 --json | jq -c .data'],
    rows: 'events',
    limit: 30,
    texts: { prefix: 'only events whose name begins with this text' },
    columns: [
      'id',
      'name',
      { field: 'app', leave: 1 },
      { field: 'source', leave: 2 },
      { field: 'receivedAt', leave: 3 },
      { title: 'EFFECT', cell: effectText },
      { title: 'DATA', cell: ({ data }) => (data === undefined ? undefined : excerpt(stringifyDigits(data))) },
    ],
  })
  namesCommand(events)
  scheduledCommands(events)

  showCommand(events, 'get', {
    operation: 'getEvent',
    description: 'show one event, with its payload and its effect',
    examples: ['perdure events get evt_01K...'],
    lines: eventDetails,
  })
  eventWhyCommand(events)
  redriveCommand(events)
  eventTreeCommand(events)

  operationCommand(
    events,
    'tail',
    {
      operation: 'streamEvents',
      description: 'follow events as they arrive, until interrupted',
      examples: ['perdure events tail', 'perdure events tail --json | jq -c .data'],
    },
    (context, frames) =>
      stream(context, frames, (frame, paint) =>
        frame.kind === 'gap' ? gapLine(frame, paint) : eventLine(frame, paint),
      ),
  )
}

function sendCommand(events: Command): void {
  operationCommand(
    events,
    'send',
    {
      operation: 'sendEvent',
      description: 'send an event: it wakes the runs that wait for it and starts the workflows that it triggers',
      examples: [
        `perdure events send user.signed-up --data '{"name": "Ada"}'`,
        'perdure events send order.placed --data @order.json --dedupe-id order-17 --wait --timeout 5m',
        'jq .order export.json | perdure events send order.placed --data -',
      ],
      moreArguments: ['name'],
      only: ['token'],
      texts: { token: TOKEN_TEXT },
      more: [
        new Option('--data <json>', 'the payload: JSON, @file, or - for standard input'),
        new Option('--app <name>', "trigger only this app's workflows"),
        new Option('--dedupe-id <id>', 'drop the event if another one had the same id within 24 hours'),
        new Option('--at <time>', 'the event arrives then: an RFC 3339 time').conflicts(['delay', 'wait']),
        new Option('--delay <duration>', 'the event arrives later: 30s, 2h, 7d').conflicts('wait'),
        new Option('--runner <id>', 'pin the started runs to this runner'),
        new Option('--target-app <name>', 'route a cross-app trigger to this app'),
        attributesOption('an attribute of the started runs; a number or a boolean is sent as such'),
        new Option('--wait', 'follow the started runs; exit with 1 if one does not succeed, or if none starts'),
        timeoutOption(),
      ],
      body: eventOf,
    },
    sent,
  )
}

async function eventOf({ options, terminal }: EngineContext<SendOptions>, name = '') {
  checkWait(options)
  const { data, app, dedupeId, runner, targetApp, at, delay, attribute } = options
  const payload = data === undefined ? {} : { data: await jsonOption('--data', data, terminal) }
  return { name, app, dedupeId, runner, targetApp, at, delay, attributes: attributesOf(attribute), ...payload }
}

async function sent(context: EngineContext<SendOptions>, reply: SendEventReply): Promise<number | undefined> {
  const { terminal, options } = context
  await show(context, reply, () => outcome(reply))
  for (const warning of reply.warnings ?? []) terminal.say(`warning: ${warning}`)
  if (!options.wait) return undefined
  const started = (reply.triggered ?? []).flatMap(({ runId }) => (runId === undefined ? [] : [runId]))
  if (started.length > 0) return waitForRuns(context, started)
  terminal.say('there is no run to wait for')
  return EXIT.refused
}

/** The effect of the event, a line for each workflow that it triggered. */
function outcome(reply: SendEventReply): string[] {
  const { eventId, at, woke = 0, triggered = [], suspended } = reply
  if (eventId === undefined || isRepeat(reply)) return [repeatText(reply)]
  if (at !== undefined) return [`${eventId}  arrives ${withAge(at)}`]
  const lines = triggered.map(({ workflow, app, ...effect }) => plain(`  ${app}/${workflow}  ${startText(effect)}`))
  const notes = [
    woke > 0 && `woke ${woke}`,
    triggered.length === 0 && woke === 0 && 'nothing matched',
    suspended && 'the namespace is suspended: no run was started',
  ].filter(Boolean)
  return [[eventId, ...notes].join('  '), ...lines, ...tokenLines(reply)]
}

/** Whether the dedupe id was used before. The reply to an event whose idempotency key was used before has other members too. */
const isRepeat = ({ deduped, triggered }: SendEventReply) => deduped === true && triggered === undefined

function repeatText({ eventId, runId }: SendEventReply): string {
  const first = [eventId, runId !== undefined && `which started ${runId}`].filter(Boolean).join(', ')
  return `dropped: an event with this dedupe id came before${first === '' ? '' : `: ${first}`}`
}

const EXCERPT_CHARS = 80
const excerpt = (text: string) => cutText(text, EXCERPT_CHARS, '…')

function eventDetails(event: EventRecord, { options, terminal }: EngineContext<EngineOptions>): string[] {
  return details(
    {
      lines: [
        ['event', event.id],
        ['name', event.name],
        ['app', event.app],
        ['source', event.source],
        ['received', withAge(event.receivedAt)],
        ['woke', String(event.woke)],
        ...event.triggered.map(
          ({ app, workflow, ...effect }) => ['triggered', `${app}/${workflow}  ${startText(effect)}`] as const,
        ),
        ['console', pageUrl(options.url, event.id)],
      ],
      json: [['data', event.data]],
    },
    terminal.paint,
  )
}
