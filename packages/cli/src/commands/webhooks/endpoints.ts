// `perdure webhooks endpoints`: manages the endpoints that get webhooks about runs, and counts their deliveries.

import {
  LIFECYCLE_KINDS,
  SERIES_STEPS,
  type WebhookEndpoint,
  type WebhookEndpointStats,
  type WebhookSeriesPoint,
} from '@perdure/protocol'
import type { BodyOf, Operations } from '@perdure/protocol/operations'
import { type Command, Option } from 'commander'
import { wholeId } from '../../command-line/ids.ts'
import { listOf, secretOption, sinceOption } from '../../command-line/options.ts'
import { type EngineOptions, engineCommand, group, list, type Session, show } from '../../command-line/session.ts'
import type { Column } from '../../output/table.ts'
import { plain } from '../../output/text.ts'
import { duration, relative } from '../../output/time.ts'
import { deliveryDetails } from './deliveries.ts'
import { addEditOptions, type EditOptions, editOf, onOff, secretFlag, showWithSecret } from './shared.ts'

type CreateOptions = Omit<BodyOf<Operations['createWebhookEndpoint']>, 'url'>

interface UpdateOptions extends EditOptions {
  to?: string
  eventKinds?: WebhookEndpoint['eventKinds']
}

const kindsOption = () =>
  new Option(
    '--event-kinds <kinds>',
    `kinds of events to send, separated by commas: ${LIFECYCLE_KINDS.join(', ')}`,
  ).argParser(listOf(LIFECYCLE_KINDS))

/** Adds `endpoints` to `perdure webhooks`. */
export function endpointsCommands(webhooks: Command): void {
  const endpoints = group(webhooks, 'endpoints', {
    description: 'list, create, change, test and delete endpoints, and count their deliveries',
    examples: [
      'perdure webhooks endpoints list',
      'perdure webhooks endpoints create https://alerts.example.com/hook --event-kinds run.failed,step.failed',
    ],
  })

  engineCommand(
    endpoints.command('list').description('list endpoints, oldest first'),
    ['perdure webhooks endpoints list', 'perdure webhooks endpoints list --json | jq -r .url'],
    async session => list(session, await session.client.listWebhookEndpoints({}, session), COLUMNS),
  )

  const creating = endpoints
    .command('create <destination>')
    .description('send webhooks about runs to a URL; shows the signing secret, which no later command shows')
    .addOption(kindsOption().makeOptionMandatory())
    .option('--name <name>', 'a label for people')
    .option('--app <name>', 'only events of runs of this app')
    .addOption(secretFlag('a secret of your own instead of a new one'))
  engineCommand<CreateOptions>(
    creating,
    [
      'perdure webhooks endpoints create https://alerts.example.com/hook --event-kinds run.failed,step.failed',
      'perdure webhooks endpoints create http://127.0.0.1:4778 --event-kinds run.succeeded --json | jq -r .secret',
    ],
    create,
  )

  updateCommand(endpoints)

  engineCommand(
    endpoints.command('delete <id>').description('delete an endpoint; its deliveries stay in the log'),
    ['perdure webhooks endpoints delete whe_01K...'],
    async (session, given = '') => {
      const id = await wholeId(session, given)
      await session.client.deleteWebhookEndpoint({ id }, session)
      return show(session, { id, deleted: true }, () => [`${plain(id)} deleted`])
    },
  )

  const counting = endpoints
    .command('stats')
    .description('count the deliveries of every endpoint, by default those of the last 30 days')
    .addOption(sinceOption('deliveries'))
  engineCommand<{ since?: string }>(
    counting,
    ['perdure webhooks endpoints stats', 'perdure webhooks endpoints stats --since 1d --json'],
    async session => {
      const { since } = session.options
      return list(session, await session.client.getWebhookEndpointStats({ since }, session), STATS_COLUMNS)
    },
  )

  testCommand(endpoints)
  seriesCommand(endpoints)
}

function testCommand(endpoints: Command): void {
  engineCommand<EngineOptions>(
    endpoints.command('test <id>').description('post a signed test to an endpoint once, and show how it answered'),
    ['perdure webhooks endpoints test whe_01K...', 'perdure webhooks endpoints test whe_01K... --json | jq .status'],
    async (session, given = '') => {
      const id = await wholeId(session, given)
      const delivery = await session.client.testWebhookEndpoint({ id }, session)
      return show(session, delivery, () => deliveryDetails(delivery, session))
    },
  )
}

interface SeriesOptions {
  since?: string
  until?: string
  step: (typeof SERIES_STEPS)[number]
  endpoint?: string
}

function seriesCommand(endpoints: Command): void {
  const counting = endpoints
    .command('series')
    .description('count the posts to endpoints over time, by default by the hour for 24 hours')
    .addOption(sinceOption('posts'))
    .option('--until <time>', 'only spans that begin before this time')
    .addOption(new Option('--step <length>', 'length of a span').choices(SERIES_STEPS).default('1h'))
    .option('--endpoint <id>', 'only posts to this endpoint')
  engineCommand<SeriesOptions>(
    counting,
    [
      'perdure webhooks endpoints series',
      'perdure webhooks endpoints series --step 1d --since 7d --endpoint whe_01K...',
    ],
    async session => {
      const { since, until, step, endpoint: endpointId } = session.options
      const points = await session.client.getWebhookEndpointSeries({ since, until, step, endpointId }, session)
      return list(session, points, SERIES_COLUMNS)
    },
  )
}

function updateCommand(endpoints: Command): void {
  const updating = addEditOptions(
    endpoints
      .command('update <id>')
      .description('change an endpoint; options that are not given leave values unchanged')
      .option('--to <destination>', 'a new URL')
      .addOption(kindsOption())
      .option('--name <name>', 'a label for people')
      .option('--no-name', 'remove the label')
      .option('--app <name>', 'only events of runs of this app')
      .option('--no-app', 'events of runs of every app'),
  )
  engineCommand<UpdateOptions>(
    updating,
    [
      'perdure webhooks endpoints update whe_01K... --disable',
      'perdure webhooks endpoints update whe_01K... --to https://alerts.example.com/new --no-app',
      'perdure webhooks endpoints update whe_01K... --rotate-secret',
    ],
    update,
  )
}

async function create(session: Session<CreateOptions>, url = ''): Promise<undefined> {
  const { client, options, terminal } = session
  const { eventKinds, name, app, secret: given } = options
  const secret = given === undefined ? undefined : await secretOption(given, terminal)
  const made = await client.createWebhookEndpoint({ body: { url, eventKinds, name, app, secret } }, session)
  return showWithSecret(session, made, describe(made))
}

async function update(session: Session<UpdateOptions>, given = ''): Promise<undefined> {
  const { client, options } = session
  const body = editOf(options, { url: options.to, eventKinds: options.eventKinds })
  const id = await wholeId(session, given)
  const changed = await client.updateWebhookEndpoint({ id, body }, session)
  return showWithSecret(session, changed, describe(changed))
}

function describe({ id, url, eventKinds, app, enabled }: WebhookEndpoint): string {
  const of = app === undefined ? '' : ` of ${app}`
  return plain(`${id} tells ${url} of ${eventKinds.join(', ')}${of}${enabled ? '' : ' once it is on again'}`)
}

const COLUMNS: Column<WebhookEndpoint>[] = [
  { title: 'ID', cell: endpoint => endpoint.id, whole: true },
  {
    title: 'STATE',
    cell: endpoint =>
      endpoint.disabledReason === undefined
        ? onOff(endpoint)
        : { ...onOff(endpoint), text: `off: ${endpoint.disabledReason}` },
  },
  { title: 'NAME', cell: endpoint => endpoint.name, leave: 2 },
  { title: 'APP', cell: endpoint => endpoint.app, leave: 1 },
  { title: 'EVENT KINDS', cell: endpoint => endpoint.eventKinds.join(','), leave: 3 },
  { title: 'URL', cell: endpoint => endpoint.url },
]

const STATS_COLUMNS: Column<WebhookEndpointStats>[] = [
  { title: 'ENDPOINT', cell: row => row.endpointId, whole: true },
  { title: 'DELIVERIES', cell: row => String(row.delivered) },
  { title: 'SUCCEEDED', cell: row => String(row.succeeded) },
  {
    title: 'FAILED',
    cell: ({ failed }) => ({ text: String(failed), colour: failed > 0 ? 'red' : undefined }),
  },
  { title: 'LAST', cell: row => row.lastDelivery && relative(row.lastDelivery) },
]

const SERIES_COLUMNS: Column<WebhookSeriesPoint>[] = [
  { title: 'FROM', cell: point => point.at, whole: true },
  { title: 'SUCCEEDED', cell: point => String(point.succeeded) },
  {
    title: 'FAILED',
    cell: ({ failed }) => ({ text: String(failed), colour: failed > 0 ? 'red' : undefined }),
  },
  { title: 'P50', cell: ({ p50Ms }) => (p50Ms === undefined ? undefined : duration(p50Ms)) },
  { title: 'P95', cell: ({ p95Ms }) => (p95Ms === undefined ? undefined : duration(p95Ms)) },
]
