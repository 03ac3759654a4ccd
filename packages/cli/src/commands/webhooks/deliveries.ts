// `perdure webhooks deliveries` and `perdure webhooks redeliver`: list, show and repeat deliveries.

import { bodyText, type DeliveryAttempt, type WebhookDelivery, type WebhookDeliveryDetail } from '@perdure/protocol'
import { type Command, Option } from 'commander'
import { type EngineContext, type EngineOptions, group } from '../../command-line/commands.ts'
import { pageUrl } from '../../command-line/console-url.ts'
import { doneCommand, listCommand, showCommand } from '../../command-line/operation.ts'
import { parametersOf, queryOf } from '../../command-line/parameters.ts'
import { details } from '../../output/details.ts'
import { type Column, table } from '../../output/table.ts'
import { withAge } from '../../output/time.ts'

/** Adds `deliveries` and `redeliver` to `perdure webhooks`. */
export function deliveriesCommands(webhooks: Command): void {
  const deliveries = group(webhooks, 'deliveries', {
    description: 'list, read and repeat deliveries',
    examples: ['perdure webhooks deliveries list --status exhausted', 'perdure webhooks deliveries get dlv_01K...'],
  })

  listCommand(deliveries, 'list', {
    operation: 'listWebhookDeliveries',
    description: 'list deliveries, newest first',
    examples: [
      'perdure webhooks deliveries list --status exhausted',
      'perdure webhooks deliveries list --app shop --limit 1000 --json | jq -r .id',
    ],
    rows: 'deliveries',
    limit: 30,
    columns: [
      'id',
      'status',
      { field: 'eventKind', title: 'KIND', leave: 3 },
      { field: 'app', leave: 1 },
      { title: 'ATTEMPTS', cell: attemptsOf, leave: 4 },
      { field: 'lastStatusCode', title: 'ANSWER' },
      { field: 'createdAt', leave: 2 },
      { field: 'nextAttemptAt', title: 'NEXT', leave: 5 },
      'url',
    ],
  })
  showCommand(deliveries, 'get', {
    operation: 'getWebhookDelivery',
    description: 'show one delivery, with its payload and all its attempts',
    examples: [
      'perdure webhooks deliveries get dlv_01K...',
      'perdure webhooks deliveries get dlv_01K... --json | jq .payload',
    ],
    lines: deliveryDetails,
  })
  showCommand(deliveries, 'facets', {
    operation: 'getWebhookDeliveryFacets',
    description: 'count deliveries by status',
    examples: [
      'perdure webhooks deliveries facets',
      'perdure webhooks deliveries facets --endpoint whe_01K... --since 1d',
    ],
    lines: ({ status }, { terminal }) => table(Object.entries(status), FACET_COLUMNS, terminal),
  })
  redeliverMatchingCommand(deliveries)
  doneCommand(webhooks, 'redeliver', {
    operation: 'redeliverWebhook',
    description: 'deliver again at once, with a new budget of attempts; refused during an attempt',
    examples: ['perdure webhooks redeliver dlv_01K...'],
    done: 'queued',
    line: ({ id }) => `${id} queued`,
  })
}

const FACET_COLUMNS: Column<[status: string, count: number | string]>[] = [
  { title: 'STATUS', cell: ([status]) => status, whole: true },
  { title: 'DELIVERIES', cell: ([, count]) => String(count) },
]

/** Repeats all matching deliveries: the filters are the list's. */
function redeliverMatchingCommand(deliveries: Command): void {
  const filters = parametersOf('listWebhookDeliveries', {
    only: ['status', 'app', 'endpointId', 'eventKind', 'sourceRunId', 'since', 'until'],
  })
  showCommand(deliveries, 'redeliver', {
    operation: 'redeliverWebhooks',
    description: 'deliver all matching deliveries again, at most the newest 1,000; needs a filter',
    examples: [
      'perdure webhooks deliveries redeliver --endpoint whe_01K... --status exhausted --dry-run',
      'perdure webhooks deliveries redeliver --endpoint whe_01K... --status exhausted --since 2d',
    ],
    more: [...filters.map(({ option }) => option), new Option('--dry-run', 'count, and queue nothing')],
    body: async (context: EngineContext<{ dryRun?: true }>) => {
      return { filter: await queryOf(context, filters), dryRun: context.options.dryRun }
    },
    lines: ({ matched, queued, skipped, capped }, { options }) => [
      `${queued} of ${matched} ${options.dryRun ? 'would be queued' : 'queued'}, ${skipped} skipped${capped ? '; more match' : ''}`,
    ],
  })
}

const attemptsOf = ({ attemptCount, maxAttempts }: WebhookDelivery) => `${attemptCount} of ${maxAttempts}`

const ATTEMPT_COLUMNS: Column<DeliveryAttempt>[] = [
  { field: 'attempt', title: '#' },
  {
    title: 'OUTCOME',
    cell: ({ outcome }) => ({ text: outcome, colour: outcome === 'succeeded' ? 'green' : 'red' }),
    whole: true,
  },
  { field: 'statusCode', title: 'ANSWER' },
  { title: 'AT', cell: attempt => attempt.createdAt, whole: true },
  { field: 'durationMs', title: 'TOOK' },
  { title: 'SAID', cell: attempt => attempt.error ?? (attempt.responseSnippet && bodyText(attempt.responseSnippet)) },
]

/** A delivery with its attempts, for people. */
export function deliveryDetails(
  delivery: WebhookDeliveryDetail,
  { options, terminal }: EngineContext<EngineOptions>,
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
