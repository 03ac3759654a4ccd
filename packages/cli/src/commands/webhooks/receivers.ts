// `perdure webhooks receivers`: manages the URLs whose verified posts become events.

import { RECEIVER_SCHEMES, type WebhookReceiver, type WebhookRefusal } from '@perdure/protocol'
import type { BodyOf, Operations } from '@perdure/protocol/operations'
import { type Command, Option } from 'commander'
import { type EngineContext, type EngineOptions, group } from '../../command-line/commands.ts'
import { doneCommand, listCommand, operationCommand } from '../../command-line/operation.ts'
import { namesOf, secretOption } from '../../command-line/options.ts'
import { plain } from '../../output/text.ts'
import { relative } from '../../output/time.ts'
import { type EditOptions, editOf, editOptions, onOff, orNull, secretFlag, showWithSecret } from './shared.ts'

type CreateOptions = Omit<BodyOf<Operations['createWebhookReceiver']>, 'eventName'>

interface UpdateOptions extends EditOptions {
  eventName?: string
  targetApp?: string | false
  keepHeaders?: string[] | false
}

/** Adds `receivers` to `perdure webhooks`. */
export function receiversCommands(webhooks: Command): void {
  const receivers = group(webhooks, 'receivers', {
    description: 'list, create, change and delete receivers',
    examples: [
      'perdure webhooks receivers list',
      'perdure webhooks receivers create payment/received --slug payments --scheme stripe --secret @stripe.txt',
    ],
  })
  listCommand(receivers, 'list', {
    operation: 'listWebhookReceivers',
    description: 'list receivers, oldest first',
    examples: ['perdure webhooks receivers list', 'perdure webhooks receivers list --json | jq -r .slug'],
    columns: [
      'id',
      { title: 'STATE', cell: onOff },
      { field: 'slug', whole: true },
      { field: 'eventName', title: 'EVENT' },
      { field: 'scheme', leave: 5 },
      {
        title: 'LAST ACCEPTED',
        cell: ({ lastAcceptedAt }) => (lastAcceptedAt === undefined ? 'never' : relative(lastAcceptedAt)),
        leave: 4,
      },
      { field: 'name', leave: 3 },
      { field: 'app', leave: 2 },
      { field: 'targetApp', leave: 1 },
    ],
  })
  createCommand(receivers)
  updateCommand(receivers)
  doneCommand(receivers, 'delete', {
    operation: 'deleteWebhookReceiver',
    description: 'delete a receiver; another one may then use its slug',
    examples: ['perdure webhooks receivers delete whr_01K...'],
    done: 'deleted',
    line: ({ id }) => `${id} deleted`,
  })
  listCommand(receivers, 'refusals', {
    operation: 'listWebhookRefusals',
    description: 'list the last 20 posts that a receiver refused, and why; of the engine that answers',
    examples: [
      'perdure webhooks receivers refusals whr_01K...',
      'perdure webhooks receivers refusals whr_01K... --json | jq -r .reason',
    ],
    columns: [
      { field: 'at', whole: true },
      { title: 'REASON', cell: reasonOf, whole: true },
      { field: 'sizeBytes', title: 'BYTES', leave: 2 },
      { field: 'address', title: 'FROM', leave: 1 },
    ],
  })
}

function createCommand(receivers: Command): void {
  operationCommand(
    receivers,
    'create',
    {
      operation: 'createWebhookReceiver',
      description:
        'create a URL whose verified posts become events of this name; shows its secret, which no later command shows',
      examples: [
        'perdure webhooks receivers create payment/received --slug payments',
        'perdure webhooks receivers create repo/pushed --scheme github --app ci',
        'perdure webhooks receivers create payment/received --scheme stripe --secret @stripe.txt',
      ],
      moreArguments: ['event-name'],
      more: [
        new Option(
          '--slug <slug>',
          'last part of the URL, fixed once created: 3 to 64 of a-z 0-9 _ - (default: random)',
        ),
        new Option(
          '--scheme <scheme>',
          'signature scheme of the posts, fixed once created (default: standard-webhooks)',
        ).choices(RECEIVER_SCHEMES),
        new Option('--name <name>', 'a label for people'),
        new Option('--app <name>', 'the app that the events belong to'),
        new Option('--target-app <name>', 'consider only the triggers of this app'),
        keepHeadersOption(),
        secretFlag("the provider's secret instead of a new one"),
      ],
      body: async ({ options, terminal }: EngineContext<CreateOptions>, eventName = '') => {
        const { slug, scheme, name, app, targetApp, keepHeaders, secret } = options
        const fields = { eventName, slug, scheme, name, app, targetApp, keepHeaders }
        return { ...fields, secret: await secretOption(secret, terminal) }
      },
    },
    (context, made) => showWithSecret(context, made, describe(made, context.options)),
  )
}

function updateCommand(receivers: Command): void {
  operationCommand(
    receivers,
    'update',
    {
      operation: 'updateWebhookReceiver',
      description: 'change a receiver, except slug and scheme; options that are not given leave values unchanged',
      examples: [
        'perdure webhooks receivers update whr_01K... --event-name payment/settled',
        'perdure webhooks receivers update whr_01K... --disable',
        'perdure webhooks receivers update whr_01K... --rotate-secret',
      ],
      more: [
        new Option('--event-name <name>', 'a new name of its events'),
        new Option('--name <name>', 'a label for people'),
        new Option('--no-name', 'remove the label'),
        new Option('--app <name>', 'the app that the events belong to'),
        new Option('--no-app', 'the events belong to no app'),
        new Option('--target-app <name>', 'consider only the triggers of this app'),
        new Option('--no-target-app', 'consider the triggers of every app'),
        keepHeadersOption(),
        new Option('--no-keep-headers', 'keep no headers: the data is the body again'),
        ...editOptions(),
      ],
      body: ({ options }: EngineContext<UpdateOptions>) => {
        const { eventName, targetApp, keepHeaders } = options
        return editOf(options, { eventName, targetApp: orNull(targetApp), keepHeaders: orNull(keepHeaders) })
      },
    },
    (context, changed) => showWithSecret(context, changed, describe(changed, context.options)),
  )
}

const keepHeadersOption = () =>
  new Option('--keep-headers <names>', 'keep these headers of a post: names, separated by commas').argParser(namesOf)

function describe({ id, slug, eventName, scheme, enabled }: WebhookReceiver, { url }: EngineOptions): string {
  const at = `${url.replace(/\/+$/, '')}/webhooks/${slug}`
  const state = enabled ? '' : ' once it is enabled'
  return plain(`${id} takes ${scheme} posts at ${at} as ${eventName}${state}`)
}

/** The reason with its detail: `stale by 412 s`, `other scheme: github`. */
function reasonOf({ reason, offSeconds, signedAs }: WebhookRefusal): string {
  const text = reason.replaceAll('_', ' ')
  if (offSeconds !== undefined) return `${text} by ${offSeconds} s`
  return signedAs === undefined ? text : `${text}: ${signedAs}`
}
