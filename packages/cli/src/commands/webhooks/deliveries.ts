// `perdure webhooks deliveries` and `perdure webhooks redeliver`: list, show and repeat deliveries.

import {
  bodyText,
  DELIVERY_KINDS,
  DELIVERY_STATUSES,
  type DeliveryAttempt,
  type WebhookDelivery,
  type WebhookDeliveryDetail,
} from '@perdure/protocol'
import { type Command, Option } from 'commander'
import { pageUrl } from '../../command-line/console-url.ts'
import { wholeId } from '../../command-line/ids.ts'
import { appOption, limitOption, sinceOption, untilOption } from '../../command-line/options.ts'
import { type EngineOptions, engineCommand, group, list, type Session, show } from '../../command-line/session.ts'
import { details } from '../../output/details.ts'
import { type Column, statusCell, table } from '../../output/table.ts'
import { plain } from '../../output/text.ts'
import { duration, relative, withAge } from '../../output/time.ts'

interface FilterOptions {
  status?: WebhookDelivery['status']
  app?: string
  endpoint?: string
  kind?: WebhookDelivery['eventKind']
  run?: string
  since?: string
  until?: string
}

interface ListOptions extends FilterOptions {
  limit: number
}

/** Adds `deliveries` and `redeliver` to `perdure webhooks`. */
export function deliveriesCommands(webhooks: Command): void {
  const deliveries = group(webhooks, 'deliveries', {
    description: 'list, read and repeat deliveries',
    examples: ['perdure webhooks deliveries list --status exhausted', 'perdure webhooks deliveries get dlv_01K...'],
  })

  const listing = filterOptions(deliveries.command('list').description('list deliveries, newest first')).addOption(
    limitOption('deliveries', 30),
  )
  engineCommand<ListOptions>(
    listing,
    [
      'perdure webhooks deliveries list --status exhausted',
      'perdure webhooks deliveries list --app shop --limit 1000 --json | jq -r .id',
    ],
    async session => {
      const { limit } = session.options
      const rows = session.client.pages.listWebhookDeliveries({ ...filterOf(session.options), limit }, session)
      return list(session, rows, COLUMNS, { limit })
    },
  )

  engineCommand<EngineOptions>(
    deliveries.command('get <id>').description('show one delivery, with its payload and all its attempts'),
    ['perdure webhooks deliveries get dlv_01K...', 'perdure webhooks deliveries get dlv_01K... --json | jq .payload'],
    async (session, given = '') => {
      const id = await wholeId(session, given)
      const delivery = await session.client.getWebhookDelivery({ id }, session)
      return show(session, delivery, () => deliveryDetails(delivery, session))
    },
  )

  facetsCommand(deliveries)
  redeliverMatchingCommand(deliveries)

  engineCommand(
    webhooks
      .command('redeliver <id>')
      .description('deliver again at once, with a new budget of attempts; refused during an attempt'),
    ['perdure webhooks redeliver dlv_01K...'],
    async (session, given = '') => {
      const id = await wholeId(session, given)
      await session.client.redeliverWebhook({ id }, session)
      return show(session, { id, queued: true }, () => [`${plain(id)} queued`])
    },
  )
}

/** Counts the deliveries of each status that match the other filters. */
function facetsCommand(deliveries: Command): void {
  engineCommand<FilterOptions>(
    filterOptions(deliveries.command('facets').description('count deliveries by status'), { withStatus: false }),
    ['perdure webhooks deliveries facets', 'perdure webhooks deliveries facets --endpoint whe_01K... --since 1d'],
    async session => {
      const { status: _, ...filter } = filterOf(session.options)
      const facets = await session.client.getWebhookDeliveryFacets(filter, session)
      return show(session, facets, () => table(Object.entries(facets.status), FACET_COLUMNS, session.terminal))
    },
  )
}

const FACET_COLUMNS: Column<[status: string, count: number | string]>[] = [
  { title: 'STATUS', cell: ([status]) => status, whole: true },
  { title: 'DELIVERIES', cell: ([, count]) => String(count) },
]

/** Delivers all that match again: the filters are those of the list. */
function redeliverMatchingCommand(deliveries: Command): void {
  const redelivering = filterOptions(
    deliveries
      .command('redeliver')
      .description('deliver again all deliveries that match, the newest 1,000 at most; needs a filter'),
  ).option('--dry-run', 'count, and queue nothing')
  engineCommand<FilterOptions & { dryRun?: boolean }>(
    redelivering,
    [
      'perdure webhooks deliveries redeliver --endpoint whe_01K... --status exhausted --dry-run',
      'perdure webhooks deliveries redeliver --endpoint whe_01K... --status exhausted --since 2d',
    ],
    async session => {
      const { client, options } = session
      const { dryRun } = options
      const counts = await client.redeliverWebhooks({ body: { filter: filterOf(options), dryRun } }, session)
      const { matched, queued, skipped, capped } = counts
      return show(session, counts, () => [
        `${queued} of ${matched} ${dryRun ? 'would be queued' : 'queued'}, ${skipped} skipped${capped ? '; more match' : ''}`,
      ])
    },
  )
}

function filterOptions(command: Command, { withStatus = true } = {}): Command {
  const status = new Option('--status <status>', 'only deliveries of this status').choices(DELIVERY_STATUSES)
  return (withStatus ? command.addOption(status) : command)
    .addOption(appOption())
    .option('--endpoint <id>', 'only deliveries to this endpoint')
    .addOption(new Option('--kind <kind>', 'only deliveries of this kind').choices(DELIVERY_KINDS))
    .option('--run <id>', 'only deliveries that this run caused')
    .addOption(sinceOption('deliveries'))
    .addOption(untilOption('deliveries'))
}

function filterOf({
  endpoint: endpointId,
  kind: eventKind,
  run: sourceRunId,
  status,
  app,
  since,
  until,
}: FilterOptions) {
  return { endpointId, eventKind, sourceRunId, status, app, since, until }
}

const attemptsOf = ({ attemptCount, maxAttempts }: WebhookDelivery) => `${attemptCount} of ${maxAttempts}`

const COLUMNS: Column<WebhookDelivery>[] = [
  { title: 'ID', cell: delivery => delivery.id, whole: true },
  { title: 'STATUS', cell: statusCell, whole: true },
  { title: 'KIND', cell: delivery => delivery.eventKind, leave: 3 },
  { title: 'APP', cell: delivery => delivery.app, leave: 1 },
  { title: 'ATTEMPTS', cell: attemptsOf, leave: 4 },
  { title: 'ANSWER', cell: ({ lastStatusCode }) => lastStatusCode?.toString() },
  { title: 'CREATED', cell: delivery => relative(delivery.createdAt), leave: 2 },
  { title: 'NEXT', cell: ({ nextAttemptAt }) => nextAttemptAt && relative(nextAttemptAt), leave: 5 },
  { title: 'URL', cell: delivery => delivery.url },
]

const ATTEMPT_COLUMNS: Column<DeliveryAttempt>[] = [
  { title: '#', cell: attempt => String(attempt.attempt) },
  {
    title: 'OUTCOME',
    cell: ({ outcome }) => ({ text: outcome, colour: outcome === 'succeeded' ? 'green' : 'red' }),
    whole: true,
  },
  { title: 'ANSWER', cell: ({ statusCode }) => statusCode?.toString() },
  { title: 'AT', cell: attempt => attempt.createdAt, whole: true },
  { title: 'TOOK', cell: attempt => duration(attempt.durationMs) },
  { title: 'SAID', cell: attempt => attempt.error ?? (attempt.responseSnippet && bodyText(attempt.responseSnippet)) },
]

/** A delivery with its attempts, for people. */
export function deliveryDetails(
  delivery: WebhookDeliveryDetail,
  { options, terminal }: Session<EngineOptions>,
): string[] {
  const { attempts } = delivery
  return [
    ...details(
      {
        lines: [
          ['delivery', delivery.id],
          ['status', delivery.status],
          ['kind', delivery.eventKind],
          ['app', delivery.app],
          ['run', delivery.sourceRunId],
          ['endpoint', delivery.endpointId],
          ['url', delivery.url],
          ['attempts', attemptsOf(delivery)],
          ['created', withAge(delivery.createdAt)],
          ['next', withAge(delivery.nextAttemptAt)],
          ['console', pageUrl(options.url, delivery.id)],
        ],
        json: [['payload', delivery.payload]],
      },
      terminal.paint,
    ),
    ...(attempts.length === 0 ? [] : ['', ...table(attempts, ATTEMPT_COLUMNS, terminal)]),
  ]
}
