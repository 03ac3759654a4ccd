// `perdure webhooks receivers`: manages the URLs whose verified posts become events.

import { RECEIVER_SCHEMES, type WebhookReceiver, type WebhookRefusal } from '@perdure/protocol'
import type { BodyOf, Operations } from '@perdure/protocol/operations'
import { type Command, Option } from 'commander'
import { wholeId } from '../../command-line/ids.ts'
import { namesOf, secretOption } from '../../command-line/options.ts'
import { type EngineOptions, engineCommand, group, list, type Session, show } from '../../command-line/session.ts'
import type { Column } from '../../output/table.ts'
import { plain } from '../../output/text.ts'
import { relative } from '../../output/time.ts'
import { addEditOptions, type EditOptions, editOf, onOff, orNull, secretFlag, showWithSecret } from './shared.ts'

type CreateOptions = EngineOptions & Omit<BodyOf<Operations['createWebhookReceiver']>, 'eventName'>

interface UpdateOptions extends EngineOptions, EditOptions {
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

  engineCommand(
    receivers.command('list').description('list receivers, oldest first'),
    ['perdure webhooks receivers list', 'perdure webhooks receivers list --json | jq -r .slug'],
    async session => list(session, await session.client.listWebhookReceivers({}, session), COLUMNS),
  )

  const creating = receivers
    .command('create <event-name>')
    .description(
      'create a URL whose verified posts become events of this name; shows its secret, which no later command shows',
    )
    .option('--slug <slug>', 'last part of the URL, unchangeable: 3 to 64 of a-z 0-9 _ - (default: random)')
    .addOption(
      new Option(
        '--scheme <scheme>',
        'signature scheme of the posts, unchangeable (default: standard-webhooks)',
      ).choices(RECEIVER_SCHEMES),
    )
    .option('--name <name>', 'a label for people')
    .option('--app <name>', 'the app that the events belong to')
    .option('--target-app <name>', 'consider only the triggers of this app')
    .option('--keep-headers <names>', 'keep these headers of a post: names, separated by commas', namesOf)
    .addOption(secretFlag("the provider's secret instead of a new one"))
  engineCommand<CreateOptions>(
    creating,
    [
      'perdure webhooks receivers create payment/received --slug payments',
      'perdure webhooks receivers create repo/pushed --scheme github --app ci',
      'perdure webhooks receivers create payment/received --scheme stripe --secret @stripe.txt',
    ],
    create,
  )

  updateCommand(receivers)

  engineCommand(
    receivers.command('delete <id>').description('delete a receiver; another one may then use its slug'),
    ['perdure webhooks receivers delete whr_01K...'],
    async (session, given = '') => {
      const id = await wholeId(session, given)
      await session.client.deleteWebhookReceiver({ id }, session)
      return show(session, { id, deleted: true }, () => [`${plain(id)} deleted`])
    },
  )

  engineCommand(
    receivers
      .command('refusals <id>')
      .description('list the last 20 posts that a receiver refused, and why; of the engine that answers'),
    [
      'perdure webhooks receivers refusals whr_01K...',
      'perdure webhooks receivers refusals whr_01K... --json | jq -r .reason',
    ],
    async (session, given = '') => {
      const id = await wholeId(session, given)
      return list(session, await session.client.listWebhookRefusals({ id }, session), REFUSAL_COLUMNS)
    },
  )
}

function updateCommand(receivers: Command): void {
  const updating = addEditOptions(
    receivers
      .command('update <id>')
      .description('change a receiver, except slug and scheme; options that are not given leave values unchanged')
      .option('--event-name <name>', 'a new name of its events')
      .option('--name <name>', 'a label for people')
      .option('--no-name', 'remove the label')
      .option('--app <name>', 'the app that the events belong to')
      .option('--no-app', 'the events belong to no app')
      .option('--target-app <name>', 'consider only the triggers of this app')
      .option('--no-target-app', 'consider the triggers of every app')
      .option('--keep-headers <names>', 'keep these headers of a post: names, separated by commas', namesOf)
      .option('--no-keep-headers', 'keep no headers: the data is the body again'),
  )
  engineCommand<UpdateOptions>(
    updating,
    [
      'perdure webhooks receivers update whr_01K... --event-name payment/settled',
      'perdure webhooks receivers update whr_01K... --disable',
      'perdure webhooks receivers update whr_01K... --rotate-secret',
    ],
    update,
  )
}

async function create(session: Session<CreateOptions>, eventName = ''): Promise<undefined> {
  const { client, options, terminal } = session
  const { slug, scheme, name, app, targetApp, keepHeaders, secret: given } = options
  const secret = given === undefined ? undefined : await secretOption(given, terminal)
  const body = { eventName, slug, scheme, name, app, targetApp, keepHeaders, secret }
  const made = await client.createWebhookReceiver({ body }, session)
  return showWithSecret(session, made, describe(made, options))
}

async function update(session: Session<UpdateOptions>, given = ''): Promise<undefined> {
  const { client, options } = session
  const { eventName, targetApp, keepHeaders } = options
  const body = editOf(options, { eventName, targetApp: orNull(targetApp), keepHeaders: orNull(keepHeaders) })
  const id = await wholeId(session, given)
  const changed = await client.updateWebhookReceiver({ id, body }, session)
  return showWithSecret(session, changed, describe(changed, options))
}

function describe({ id, slug, eventName, scheme, enabled }: WebhookReceiver, { url }: EngineOptions): string {
  const at = `${url.replace(/\/+$/, '')}/webhooks/${slug}`
  const state = enabled ? '' : ' once it is on again'
  return plain(`${id} takes ${scheme} posts at ${at} as ${eventName}${state}`)
}

const COLUMNS: Column<WebhookReceiver>[] = [
  { title: 'ID', cell: receiver => receiver.id, whole: true },
  { title: 'STATE', cell: onOff },
  { title: 'SLUG', cell: receiver => receiver.slug, whole: true },
  { title: 'EVENT', cell: receiver => receiver.eventName },
  { title: 'SCHEME', cell: receiver => receiver.scheme, leave: 5 },
  {
    title: 'LAST ACCEPTED',
    cell: ({ lastAcceptedAt }) => (lastAcceptedAt === undefined ? 'never' : relative(lastAcceptedAt)),
    leave: 4,
  },
  { title: 'NAME', cell: receiver => receiver.name, leave: 3 },
  { title: 'APP', cell: receiver => receiver.app, leave: 2 },
  { title: 'TARGET APP', cell: receiver => receiver.targetApp, leave: 1 },
]

const REFUSAL_COLUMNS: Column<WebhookRefusal>[] = [
  { title: 'AT', cell: refusal => relative(refusal.at), whole: true },
  { title: 'REASON', cell: reasonOf, whole: true },
  { title: 'BYTES', cell: refusal => String(refusal.sizeBytes), leave: 2 },
  { title: 'FROM', cell: refusal => refusal.address, leave: 1 },
]

/** The reason with its fact: `stale by 412 s`, `other scheme: github`. */
function reasonOf({ reason, offSeconds, signedAs }: WebhookRefusal): string {
  const text = reason.replaceAll('_', ' ')
  if (offSeconds !== undefined) return `${text} by ${offSeconds} s`
  return signedAs === undefined ? text : `${text}: ${signedAs}`
}
