// `perdure runs streams` lists the output streams of a run, and `perdure runs stream` prints one: its chunks, its text, or its messages
// as JSON, up to now or until the run ends (docs/streams.md).

import { applyStreamMessages, EMPTY_STREAM, textOf } from '@perdure/client/internal'
import type { RunStreamFrame, StreamMessage } from '@perdure/protocol'
import { type Command, Option } from 'commander'
import { type EngineContext, engineCommand } from '../../../command-line/commands.ts'
import { EXIT } from '../../../command-line/exit.ts'
import { UsageError } from '../../../command-line/flags.ts'
import { limit, sayTimeout, untilTimeout } from '../../../command-line/follow.ts'
import { wholeId } from '../../../command-line/ids.ts'
import { listCommand } from '../../../command-line/operation.ts'
import { timeoutOption, type WaitOptions } from '../../../command-line/options.ts'
import { stringifyDigits } from '../../../output/digits.ts'
import { jsonLine, plain } from '../../../output/text.ts'

type Rollback = Extract<StreamMessage, { rollback: number }>

interface StreamOptions extends WaitOptions {
  follow?: true
  text?: true
}

/** Adds `streams` and `stream` to `perdure runs`. */
export function outputStreamCommands(runs: Command): void {
  listCommand(runs, 'streams', {
    operation: 'listRunStreams',
    description: 'list the output streams of a run',
    examples: ['perdure runs streams run_01K...'],
    columns: [
      'name',
      { field: 'chunks', title: 'CHUNKS' },
      { field: 'bytes', title: 'BYTES' },
      { field: 'lastAt', title: 'LAST WRITTEN' },
      { title: 'STATE', cell: ({ ended, dropped }) => (dropped ? 'dropped' : ended ? 'ended' : 'open') },
    ],
    none: 'no step has written to a stream',
  })
  const command = runs
    .command('stream <id> <name>')
    .description('print an output stream of a run, one chunk per line, including withdrawn chunks')
    .addOption(new Option('-f, --follow', 'also print new chunks, until the run ends'))
    .addOption(new Option('--text', 'print only the text; without --follow, without withdrawn chunks'))
    .addOption(timeoutOption('with --follow, '))
  engineCommand<StreamOptions>(
    command,
    [
      'perdure runs stream run_01K... answer',
      'perdure runs stream run_01K... answer --follow --text   # exit code 0: the run succeeded; 1: it did not',
      'perdure runs stream run_01K... rows --follow --json | jq .chunk',
    ],
    async (context, id = '', name = '') => {
      const { follow, text, timeout } = context.options
      if (timeout !== undefined && !follow) throw new UsageError('--timeout needs --follow')
      if (text && context.json) throw new UsageError('--text and --json exclude each other')
      const stream = { id: await wholeId(context, id), name }
      return follow ? followed(context, stream) : stored(context, stream)
    },
  )
}

interface StreamName {
  id: string
  name: string
}

async function stored(context: EngineContext<StreamOptions>, stream: StreamName): Promise<undefined> {
  const { client, options, terminal } = context
  const messages = await client.readRunStream(stream, context)
  if (options.text) return terminal.write(textOf(applyStreamMessages(EMPTY_STREAM, messages))) as Promise<undefined>
  const printer = new Printer(context)
  for (const message of messages) await printer.print(message)
}

/** Prints until the end of the run. A lost connection is resumed, and repeated messages are left out. */
async function followed(context: EngineContext<StreamOptions>, { id, name }: StreamName): Promise<number> {
  const limited = limit(context)
  const printer = new Printer(context)
  const status = await untilTimeout(limited, async () => {
    for await (const frame of context.client.streamTopics({ topics: [`run:${id}:${name}`] }, limited)) {
      if (frame.kind !== 'stream') continue
      for (const message of (frame as RunStreamFrame).messages) {
        await printer.print(message)
        if ('end' in message) return message.end
      }
    }
    return undefined
  })
  if (status === undefined) return sayTimeout(context, id)
  return status === 'succeeded' ? EXIT.ok : EXIT.refused
}

/** Prints messages in order, each once. A message without a step belongs to the previous message's step. */
class Printer {
  readonly #context: EngineContext<StreamOptions>
  #next = 0
  #step = ''
  #attempt = 1

  constructor(context: EngineContext<StreamOptions>) {
    this.#context = context
  }

  async print(message: StreamMessage): Promise<void> {
    if (!('end' in message)) {
      this.#step = message.step ?? this.#step
      this.#attempt = message.attempt ?? this.#attempt
    }
    if (message.n < this.#next) return
    this.#next = message.n + 1
    const { terminal, json, options } = this.#context
    if (json) return terminal.out(jsonLine(message))
    if ('chunk' in message) {
      if (!options.text) return terminal.out(this.#line(message.n, stringifyDigits(message.chunk) ?? 'null'))
      return typeof message.chunk === 'string' ? terminal.write(message.chunk) : undefined
    }
    const { paint } = terminal
    const what = 'end' in message ? `ended: ${message.end}` : this.#withdrawn(message)
    // The text is already printed: a message next to it says that it does not count.
    if (!options.text) return terminal.out(paint('dim', this.#line(message.n, what)))
    if ('rollback' in message) terminal.say(`\n[${what}]`)
  }

  #line(n: number, text: string): string {
    const attempt = this.#attempt === 1 ? '' : `#${this.#attempt}`
    return plain(`${n}  ${this.#step}${attempt}  ${text}`)
  }

  #withdrawn({ rollback, reason }: Rollback): string {
    const what = reason === 'lost' ? 'was lost' : 'failed'
    return `chunks of ${this.#step} from ${rollback} on are withdrawn: attempt ${this.#attempt} ${what}`
  }
}
