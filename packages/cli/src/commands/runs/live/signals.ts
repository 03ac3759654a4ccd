// `perdure runs signal`, `update`, `answer` and `signals`: messages to one run, and its answers.

import { type Command, Option } from 'commander'
import { type EngineContext, type EngineOptions, show } from '../../../command-line/commands.ts'
import { EXIT } from '../../../command-line/exit.ts'
import { operationCommand, showCommand } from '../../../command-line/operation.ts'
import { jsonOption } from '../../../command-line/options.ts'
import { plain, prettyJson } from '../../../output/text.ts'

interface SignalOptions {
  data?: string
  dedupeId?: string
}

const messageOptions = () => [
  new Option('--data <json>', 'the payload; @file reads a file, - standard input'),
  new Option(
    '--dedupe-id <id>',
    'an id of your choice: sending it again to the same run within 24 hours has no effect',
  ),
]

async function message({ options: { data, dedupeId }, terminal }: EngineContext<SignalOptions>) {
  return {
    ...(data !== undefined && { data: await jsonOption('--data', data, terminal) }),
    ...(dedupeId !== undefined && { dedupeId }),
  }
}

/** Adds the commands to `perdure runs`. */
export function signalCommands(runs: Command): void {
  showCommand(runs, 'signal', {
    operation: 'signalRun',
    description: 'send a signal to a run, for its step.waitForSignal',
    examples: [`perdure runs signal run_01K... approve --data '{"by": "ada"}'`],
    more: messageOptions(),
    body: message,
    lines: ({ eventId, woke }) => [`${eventId} ${woke > 0 ? 'woke the run' : 'waits for the run to take it'}`],
  })
  operationCommand(
    runs,
    'update',
    {
      operation: 'updateRun',
      description: 'send an update to a run and print its answer; exit with 4 if there is none in time',
      examples: [`perdure runs update run_01K... add-item --data '{"sku": "tea"}' --wait 20s`],
      more: messageOptions(),
      body: message,
    },
    printAnswer,
  )
  operationCommand(
    runs,
    'answer',
    {
      operation: 'getRunUpdate',
      description: 'print the answer to an update; exit with 4 if there is none in time',
      examples: ['perdure runs answer run_01K... evt_01K... --wait 20s'],
    },
    printAnswer,
  )
  showCommand(runs, 'signals', {
    operation: 'listRunSignals',
    description: 'list the signals and updates that no step of a run has taken',
    examples: ['perdure runs signals run_01K...'],
    lines: ({ signals, more }) => [
      ...signals.map(({ receivedAt, kind, name, eventId }) => plain(`${receivedAt} ${kind} ${name} ${eventId}`)),
      ...(more ? ['and more'] : []),
    ],
  })
}

async function printAnswer(
  context: EngineContext<EngineOptions>,
  answer: { updateId: string; reply?: unknown },
): Promise<number> {
  const isAnswered = 'reply' in answer
  if (context.json || !isAnswered) await show(context, answer, () => [`${answer.updateId} has no answer yet`])
  else await context.terminal.out(prettyJson(answer.reply))
  return isAnswered ? EXIT.ok : EXIT.timedOut
}
