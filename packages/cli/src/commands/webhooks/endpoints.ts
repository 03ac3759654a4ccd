// `perdure webhooks endpoints`: manages the endpoints that get webhooks about runs, and counts their deliveries.

import { LIFECYCLE_KINDS, type WebhookEndpoint } from '@perdure/protocol'
import type { BodyOf, Operations } from '@perdure/protocol/operations'
import { type Command, Option } from 'commander'
import { type EngineContext, group } from '../../command-line/commands.ts'
import { doneCommand, listCommand, operationCommand, showCommand } from '../../command-line/operation.ts'
import { listOf, secretOption } from '../../command-line/options.ts'
import type { Cell } from '../../output/table.ts'
import { plain } from '../../output/text.ts'
import { relative } from '../../output/time.ts'
import { deliveryDetails } from './deliveries.ts'
import { type EditOptions, editOf, editOptions, onOff, secretFlag, showWithSecret } from './shared.ts'

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

  listCommand(endpoints, 'list', {
    operation: 'listWebhookEndpoints',
    description: 'list endpoints, oldest first',
    examples: ['perdure webhooks endpoints list', 'perdure webhooks endpoints list --json | jq -r .url'],
    columns: [
      'id',
      { title: 'STATE', cell: stateCell },
      { field: 'name', leave: 2 },
      { field: 'app', leave: 1 },
      { title: 'EVENT KINDS', cell: endpoint => endpoint.eventKinds.join(','), leave: 3 },
      'url',
    ],
  })

  createCommand(endpoints)
  updateCommand(endpoints)

  doneCommand(endpoints, 'delete', {
    operation: 'deleteWebhookEndpoint',
    description: 'delete an endpoint; its deliveries stay in the log',
    examples: ['perdure webhooks endpoints delete whe_01K...'],
    done: 'deleted',
    line: ({ id }) => `${id} deleted`,
  })
  probeCommands(endpoints)
}

/** Adds the commands that show how endpoints perform. */
function probeCommands(endpoints: Command): void {
  listCommand(endpoints, 'stats', {
    operation: 'getWebhookEndpointStats',
    description: 'count the deliveries of every endpoint, by default those of the last 30 days',
    examples: ['perdure webhooks endpoints stats', 'perdure webhooks endpoints stats --since 1d --json'],
    columns: [
      { field: 'endpointId', title: 'ENDPOINT' },
      { field: 'delivered', title: 'DELIVERIES' },
      'succeeded',
      'failed',
      { title: 'LAST', cell: row => row.lastDelivery && relative(row.lastDelivery) },
    ],
  })
  showCommand(endpoints, 'test', {
    operation: 'testWebhookEndpoint',
    description: 'post a signed test to an endpoint once, and show its response',
    examples: [
      'perdure webhooks endpoints test whe_01K...',
      'perdure webhooks endpoints test whe_01K... --json | jq .status',
    ],
    lines: deliveryDetails,
  })
  listCommand(endpoints, 'series', {
    operation: 'getWebhookEndpointSeries',
    description: 'count the posts to endpoints over time, by default by the hour for 24 hours',
    examples: [
      'perdure webhooks endpoints series',
      'perdure webhooks endpoints series --step 1d --since 7d --endpoint whe_01K...',
    ],
    columns: [{ title: 'FROM', cell: ({ at }) => at, whole: true }, 'succeeded', 'failed', 'p50Ms', 'p95Ms'],
  })
}

function createCommand(endpoints: Command): void {
  operationCommand(
    endpoints,
    'create',
    {
      operation: 'createWebhookEndpoint',
      description: 'send webhooks about runs to a URL; shows the signing secret, which no later command shows',
      examples: [
        'perdure webhooks endpoints create https://alerts.example.com/hook --event-kinds run.failed,step.failed',
        'perdure webhooks endpoints create http://127.0.0.1:4778 --event-kinds run.succeeded --json | jq -r .secret',
      ],
      moreArguments: ['destination'],
      more: [
        kindsOption().makeOptionMandatory(),
        new Option('--name <name>', 'a label for people'),
        new Option('--app <name>', 'only events of runs of this app'),
        secretFlag('a secret of your own instead of a new one'),
      ],
      body: async ({ options, terminal }: EngineContext<CreateOptions>, url = '') => {
        const { eventKinds, name, app, secret } = options
        return { url, eventKinds, name, app, secret: await secretOption(secret, terminal) }
      },
    },
    (context, made) => showWithSecret(context, made, describe(made)),
  )
}

function updateCommand(endpoints: Command): void {
  operationCommand(
    endpoints,
    'update',
    {
      operation: 'updateWebhookEndpoint',
      description: 'change an endpoint; options that are not given leave values unchanged',
      examples: [
        'perdure webhooks endpoints update whe_01K... --disable',
        'perdure webhooks endpoints update whe_01K... --to https://alerts.example.com/new --no-app',
        'perdure webhooks endpoints update whe_01K... --rotate-secret',
      ],
      more: [
        new Option('--to <destination>', 'a new URL'),
        kindsOption(),
        new Option('--name <name>', 'a label for people'),
        new Option('--no-name', 'remove the label'),
        new Option('--app <name>', 'only events of runs of this app'),
        new Option('--no-app', 'events of runs of every app'),
        ...editOptions(),
      ],
      body: ({ options }: EngineContext<UpdateOptions>) =>
        editOf(options, { url: options.to, eventKinds: options.eventKinds }),
    },
    (context, changed) => showWithSecret(context, changed, describe(changed)),
  )
}

function describe({ id, url, eventKinds, app, enabled }: WebhookEndpoint): string {
  const of = app === undefined ? '' : ` of ${app}`
  return plain(`${id} sends ${eventKinds.join(', ')}${of} to ${url}${enabled ? '' : ' once it is enabled'}`)
}

function stateCell(endpoint: WebhookEndpoint): Cell {
  const { disabledReason } = endpoint
  return disabledReason === undefined ? onOff(endpoint) : { ...onOff(endpoint), text: `off: ${disabledReason}` }
}
