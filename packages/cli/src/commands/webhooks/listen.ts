// `perdure webhooks listen`: a local endpoint for development. It shows each webhook and whether its signature
// verifies.

import { isMalformedWebhookSecret } from '@perdure/protocol'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { type LocalContext, localCommand } from '../../command-line/commands.ts'
import { UsageError } from '../../command-line/flags.ts'
import { secretOption, wholeNumber } from '../../command-line/options.ts'
import { jsonLine } from '../../output/text.ts'
import { type Answer, forward } from './forward.ts'
import { openListener, type Post } from './listener.ts'
import { received, receivedLines } from './received.ts'
import { secretFlag } from './shared.ts'

interface ListenOptions {
  port: number
  secret?: string
  forward?: string
  answer: number
}

const PORT = 4778
const PORT_MAX = 65_535
const STATUS = 200

/** Adds `listen` to `perdure webhooks`. */
export function listenCommand(webhooks: Command): void {
  const command = webhooks
    .command('listen')
    .description('receive webhooks on loopback and show them, until interrupted: for development')
    .addOption(
      new Option('--port <port>', 'port to listen on; 0 selects a free one')
        .argParser(wholeNumber(`a port from 0 to ${PORT_MAX}`, 0, PORT_MAX))
        .default(PORT),
    )
    .addOption(secretFlag("the endpoint's secret, to check signatures with").env('WEBHOOK_SECRET'))
    .addOption(
      new Option('--forward <url>', 'forward each webhook to this URL, and answer with its status').argParser(httpUrl),
    )
    .addOption(
      new Option('--answer <status>', 'answer with this status, 200 to 599')
        // A status below 200 is only informational.
        .argParser(wholeNumber('a status from 200 to 599', 200, 599))
        .default(STATUS)
        .conflicts('forward'),
    )
  localCommand<ListenOptions>(
    command,
    [
      'perdure webhooks listen',
      'perdure webhooks listen --secret @secret.txt --forward http://localhost:3000/webhooks',
      'perdure webhooks listen --answer 503     # to see deliveries being tried again',
      'perdure webhooks listen --json | jq .body',
    ],
    listen,
  )
}

/** Listens until an interrupt, or until stdout is closed; then rejects with the reason. */
async function listen(context: LocalContext<ListenOptions>): Promise<never> {
  const { terminal, options } = context
  const secret = await knownSecret(options.secret || undefined, context)
  const failure = new AbortController()
  const signal = AbortSignal.any([context.signal, failure.signal])
  const listener = await openListener({
    port: options.port,
    take: post => take({ ...context, signal }, post, secret),
    onError: error => failure.abort(error),
  })
  for (const line of greeting(listener.url, secret !== undefined)) terminal.say(line)
  await aborted(signal)
  await listener.close()
  throw signal.reason
}

async function knownSecret(given: string | undefined, { terminal }: LocalContext<unknown>) {
  const secret = await secretOption(given, terminal)
  if (secret !== undefined && isMalformedWebhookSecret(secret))
    throw new UsageError('--secret must be whsec_ followed by base64')
  return secret
}

/** Determines the answer to a post, shows both, and returns the status to answer with. */
async function take(
  { terminal, json, options, signal }: LocalContext<ListenOptions>,
  { body, ...post }: Post,
  secret: string | undefined,
): Promise<number> {
  const shown = received({ ...post, body }, secret, Date.now())
  const url = options.forward
  const answer: Answer = url === undefined ? { status: options.answer } : await forward(url, { ...shown, body }, signal)
  const { status, error } = answer
  const said =
    error === undefined ? `answered ${status}` : `answered ${status}, because ${url} did not answer: ${error}`
  // One write, because another post may be shown at the same time.
  const lines = json ? [jsonLine({ ...shown, answered: answer })] : [...receivedLines(shown, said, terminal.paint), '']
  await terminal.out(lines.join('\n'))
  return status
}

function greeting(url: string, checks: boolean): string[] {
  return [
    `listens on ${url} until interrupted`,
    'The engine posts here once it runs with ENGINE_WEBHOOK_ALLOW_PRIVATE=1 or ENGINE_WEBHOOK_ALLOW=127.0.0.1, and has',
    `an endpoint: perdure webhooks endpoints create ${url} --event-kinds run.succeeded,run.failed`,
    ...(checks
      ? []
      : [
          'Signatures are not checked. To check them, pass --secret with the secret that "perdure webhooks endpoints create" shows.',
        ]),
  ]
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

function httpUrl(text: string): string {
  if (!/^https?:/.test(text) || !URL.canParse(text)) throw new InvalidArgumentError('It must be an http(s) URL.')
  return text
}
