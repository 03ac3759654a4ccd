// `perdure events`: sends events, lists the event log, and follows it live.

import { cutText, EVENT_SOURCES, type EventName, type EventRecord, type SendEventReply } from '@perdure/protocol'
import { type Command, Option } from 'commander'
import { pageUrl } from '../command-line/console-url.ts'
import { EXIT } from '../command-line/exit.ts'
import { checkWait, waitForRuns } from '../command-line/follow.ts'
import { wholeId } from '../command-line/ids.ts'
import {
  appOption,
  attributesOf,
  attributesOption,
  countedSinceOption,
  jsonOption,
  limitOption,
  sinceOption,
  timeoutOption,
  untilOption,
  type WaitOptions,
} from '../command-line/options.ts'
import { type EngineOptions, engineCommand, group, list, type Session, show, stream } from '../command-line/session.ts'
import { details } from '../output/details.ts'
import { stringifyDigits } from '../output/digits.ts'
import { effectText, startText } from '../output/effects.ts'
import type { Column } from '../output/table.ts'
import { plain } from '../output/text.ts'
import { relative, withAge } from '../output/time.ts'
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
  delay?: string
  attribute?: string[]
  wait?: true
}

interface ListOptions {
  app?: string
  name?: string
  prefix?: string
  source?: EventRecord['source']
  since?: string
  until?: string
  limit: number
}

const NAME_COLUMNS: Column<EventName>[] = [
  { title: 'NAME', cell: ({ name }) => name },
  { title: 'COUNT', cell: ({ count }) => (count === undefined ? undefined : String(count)) },
  { title: 'LAST', cell: ({ lastAt }) => relative(lastAt) },
  { title: 'EVENT', cell: ({ lastEventId }) => lastEventId, whole: true },
]

/** Adds `perdure events names`. */
function namesCommand(events: Command): void {
  const naming = events
    .command('names')
    .description('list the names that events have, in alphabetical order')
    .option('--prefix <text>', 'only names that begin with this text')
    .addOption(countedSinceOption('events of each name'))
    .addOption(limitOption('names', 100))
  engineCommand<{ prefix?: string; since?: string; limit: number }>(
    naming,
    ['perdure events names --prefix order/', 'perdure events names --since 24h'],
    async session => {
      const { prefix, since, limit } = session.options
      const rows = session.client.pages.listEventNames({ prefix, since, limit }, session)
      return list(session, rows, NAME_COLUMNS, { limit })
    },
  )
}

/** Adds `perdure events` to the program. */
export function eventsCommands(program: Command): void {
  const events = group(program, 'events', {
    description: 'send, list and follow events',
    examples: [`perdure events send user.signed-up --data '{"name": "Ada"}' --wait`],
  })

  const sending = events
    .command('send <name>')
    .description('send an event: it wakes the runs that wait for it and starts the workflows that it triggers')
    .option('--data <json>', 'the payload: JSON, @file, or - for standard input')
    .option('--app <name>', "trigger only this app's workflows")
    .option('--dedupe-id <id>', 'drop the event if another one had the same id within 24 hours')
    .addOption(new Option('--at <time>', 'the event arrives then: an RFC 3339 time').conflicts(['delay', 'wait']))
    .addOption(new Option('--delay <duration>', 'the event arrives later: 30s, 2h, 7d').conflicts('wait'))
    .option('--runner <id>', 'pin the started runs to this runner')
    .option('--target-app <name>', 'route a cross-app trigger to this app')
    .addOption(attributesOption('an attribute of the started runs; a number or a boolean is sent as such'))
    .option('--wait', 'follow the started runs; exit with 1 if one does not succeed, or if none starts')
    .addOption(timeoutOption())
  engineCommand<SendOptions>(
    sending,
    [
      `perdure events send user.signed-up --data '{"name": "Ada"}'`,
      'perdure events send order.placed --data @order.json --dedupe-id order-17 --wait --timeout 5m',
      'jq .order export.json | perdure events send order.placed --data -',
    ],
    send,
  )

  sendManyCommand(events)

  const listing = events
    .command('list')
    .description('list events, newest first')
    .addOption(appOption())
    .option('--name <name>', 'only events of this name')
    .option('--prefix <text>', 'only events whose name begins with this text')
    .addOption(new Option('--source <source>', 'only events from there').choices(EVENT_SOURCES))
    .addOption(sinceOption('events'))
    .addOption(untilOption('events'))
    .addOption(limitOption('events', 30))
  engineCommand<ListOptions>(
    listing,
    ['perdure events list --name order.placed', 'perdure events list --limit 500 --json | jq -c .data'],
    async session => {
      const { app, name, prefix, source, since, until, limit } = session.options
      const query = { app, name, prefix, source, since, until, limit }
      return list(session, session.client.pages.listEvents(query, session), COLUMNS, { limit })
    },
  )

  namesCommand(events)
  scheduledCommands(events)

  const getting = events.command('get <id>').description('show one event, with its payload and its effect')
  engineCommand<EngineOptions>(getting, ['perdure events get evt_01K...'], async (session, given = '') => {
    const id = await wholeId(session, given)
    const event = await session.client.getEvent({ id }, session)
    return show(session, event, () => eventDetails(event, session))
  })

  eventWhyCommand(events)
  redriveCommand(events)
  eventTreeCommand(events)

  const tailing = events.command('tail').description('follow events as they arrive, until interrupted')
  engineCommand(tailing, ['perdure events tail', 'perdure events tail --json | jq -c .data'], session =>
    stream(session, session.client.streamEvents({}, session), (frame, paint) =>
      frame.kind === 'gap' ? gapLine(frame, paint) : eventLine(frame, paint),
    ),
  )
}

async function send(session: Session<SendOptions>, name = ''): Promise<number | undefined> {
  const { client, terminal, options } = session
  checkWait(options)
  const { data, wait, app, dedupeId, runner, targetApp, at, delay, attribute } = options
  const payload = data === undefined ? {} : { data: await jsonOption('--data', data, terminal) }
  const reply = await client.sendEvent(
    { body: { name, app, dedupeId, runner, targetApp, at, delay, attributes: attributesOf(attribute), ...payload } },
    session,
  )
  await show(session, reply, () => outcome(reply))
  for (const warning of reply.warnings ?? []) terminal.say(`warning: ${warning}`)
  if (!wait) return undefined
  const started = (reply.triggered ?? []).flatMap(({ runId }) => (runId === undefined ? [] : [runId]))
  if (started.length > 0) return waitForRuns(session, started)
  terminal.say('there is no run to wait for')
  return EXIT.refused
}

/** The effect of the event, a line for each workflow it triggered. */
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
  return [[eventId, ...notes].join('  '), ...lines]
}

/** Whether the dedupe id was used before. The reply to an event whose idempotency key was used before has more. */
const isRepeat = ({ deduped, triggered }: SendEventReply) => deduped === true && triggered === undefined

function repeatText({ eventId, runId }: SendEventReply): string {
  const first = [eventId, runId !== undefined && `which started ${runId}`].filter(Boolean).join(', ')
  return `dropped: an event with this dedupe id came before${first === '' ? '' : `: ${first}`}`
}

const EXCERPT_CHARS = 80
const excerpt = (text: string) => cutText(text, EXCERPT_CHARS, '…')

const COLUMNS: Column<EventRecord>[] = [
  { title: 'ID', cell: event => event.id, whole: true },
  { title: 'NAME', cell: event => event.name },
  { title: 'APP', cell: event => event.app, leave: 1 },
  { title: 'SOURCE', cell: event => event.source, leave: 2 },
  { title: 'RECEIVED', cell: event => relative(event.receivedAt), leave: 3 },
  { title: 'EFFECT', cell: effectText },
  { title: 'DATA', cell: ({ data }) => (data === undefined ? undefined : excerpt(stringifyDigits(data))) },
]

function eventDetails(event: EventRecord, { options, terminal }: Session<EngineOptions>): string[] {
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
