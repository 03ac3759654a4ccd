// `perdure webhooks deliveries` and `perdure webhooks redeliver`: list, show and repeat deliveries.

import { DELIVERY_STATUSES, type WebhookDelivery, type WebhookDeliveryDetail } from '@perdure/protocol'
import { type Command, Option } from 'commander'
import { appOption, examplesHelp, limitOption } from '../../command-line/options.ts'
import { engineCommand, list, type Session, show } from '../../command-line/session.ts'
import { colourOf } from '../../output/colour.ts'
import { details } from '../../output/details.ts'
import { type Column, table } from '../../output/table.ts'
import { plain } from '../../output/text.ts'
import { duration, relative } from '../../output/time.ts'

type Attempt = WebhookDeliveryDetail['attempts'][number]

interface ListOptions {
  status?: WebhookDelivery['status']
  app?: string
  limit: number
}

/** Largest page of deliveries that the engine returns. */
const PAGE_MAX = 1000

/** Adds `deliveries` and `redeliver` to `perdure webhooks`. */
export function deliveriesCommands(webhooks: Command): void {
  const deliveries = webhooks
    .command('deliveries')
    .description('list and read deliveries')
    .addHelpText(
      'after',
      examplesHelp([
        'perdure webhooks deliveries list --status exhausted',
        'perdure webhooks deliveries get dlv_01K...',
      ]),
    )

  const listing = deliveries
    .command('list')
    .description('list deliveries, newest first')
    .addOption(new Option('--status <status>', 'only deliveries of this status').choices(DELIVERY_STATUSES))
    .addOption(appOption())
    .addOption(limitOption('deliveries', 30))
  engineCommand<ListOptions>(
    listing,
    [
      'perdure webhooks deliveries list --status exhausted',
      'perdure webhooks deliveries list --app shop --limit 1000 --json | jq -r .id',
    ],
    async session => {
      const { status, app, limit } = session.options
      const query = { status, app, limit: Math.min(limit, PAGE_MAX) }
      const rows = session.client.pages.listWebhookDeliveries(query, session)
      await list(session, rows, { columns: columns(session), limit })
      return undefined
    },
  )

  engineCommand(
    deliveries.command('get <id>').description('show one delivery, with its payload and all its attempts'),
    [
      'perdure webhooks deliveries get dlv_01K...',
      'perdure webhooks deliveries get dlv_01K... --json | jq .payload',
    ],
    async (session, id = '') => {
      const delivery = await session.client.getWebhookDelivery({ id }, session)
      await show(session, delivery, () => deliveryDetails(delivery, session))
      return undefined
    },
  )

  engineCommand(
    webhooks
      .command('redeliver <id>')
      .description('deliver again at once, with a new budget of attempts; refused during an attempt'),
    [
      'perdure webhooks redeliver dlv_01K...',
      'perdure webhooks deliveries list --status exhausted --json | jq -r .id | xargs -n1 perdure webhooks redeliver',
    ],
    async (session, id = '') => {
      await session.client.redeliverWebhook({ id }, session)
      await show(session, { id, queued: true }, () => [`${plain(id)} queued`])
      return undefined
    },
  )
}

function columns({ terminal }: Session<unknown>): Column<WebhookDelivery>[] {
  const now = terminal.now()
  return [
    { title: 'ID', cell: delivery => delivery.id, whole: true },
    { title: 'STATUS', cell: ({ status }) => ({ text: status, colour: colourOf(status) }), whole: true },
    { title: 'KIND', cell: delivery => delivery.eventKind },
    { title: 'APP', cell: delivery => delivery.app },
    { title: 'ATTEMPTS', cell: attemptsOf },
    { title: 'ANSWER', cell: ({ lastStatusCode }) => lastStatusCode?.toString() },
    { title: 'CREATED', cell: delivery => relative(delivery.createdAt, now) },
    { title: 'NEXT', cell: ({ nextAttemptAt }) => nextAttemptAt && relative(nextAttemptAt, now) },
    { title: 'URL', cell: delivery => delivery.url },
  ]
}

function deliveryDetails(delivery: WebhookDeliveryDetail, { terminal }: Session<unknown>): string[] {
  const at = (time: string | undefined) => time && `${time} (${relative(time, terminal.now())})`
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
          ['created', at(delivery.createdAt)],
          ['next', at(delivery.nextAttemptAt)],
        ],
        json: [['payload', delivery.payload]],
      },
      terminal.paint,
    ),
    ...(attempts.length === 0 ? [] : ['', ...table(attempts, attemptColumns(), terminal)]),
  ]
}

const attemptsOf = ({ attemptCount, maxAttempts }: WebhookDelivery) => `${attemptCount} of ${maxAttempts}`

function attemptColumns(): Column<Attempt>[] {
  return [
    { title: '#', cell: attempt => String(attempt.attempt) },
    {
      title: 'OUTCOME',
      cell: ({ outcome }) => ({ text: outcome, colour: outcome === 'succeeded' ? 'green' : 'red' }),
      whole: true,
    },
    { title: 'ANSWER', cell: ({ statusCode }) => statusCode?.toString() },
    { title: 'AT', cell: attempt => attempt.createdAt, whole: true },
    { title: 'TOOK', cell: attempt => duration(attempt.durationMs) },
    { title: 'SAID', cell: attempt => attempt.error ?? attempt.responseSnippet },
  ]
}
