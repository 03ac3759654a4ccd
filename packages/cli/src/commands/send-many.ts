// `perdure events send-many`: sends the events of a file, in as few requests as possible.

import { EVENTS_OF_BATCH_MAX, type SendEvent } from '@perdure/protocol'
import type { Command } from 'commander'
import { type EngineContext, engineCommand } from '../command-line/commands.ts'
import { EXIT } from '../command-line/exit.ts'
import { UsageError } from '../command-line/flags.ts'
import { textOption } from '../command-line/options.ts'
import { parseDigits, stringifyDigits } from '../output/digits.ts'
import { jsonLine, plain } from '../output/text.ts'

/** Bytes of the events in one request: less than the engine's bound, with room for the text between them. */
const REQUEST_BYTES_MAX = 7 * 1024 * 1024

/** Adds `send-many` to `perdure events`. */
export function sendManyCommand(events: Command): void {
  const command = events
    .command('send-many <events>')
    .description('send many events: a JSON list, or one JSON object a line, from @file or - (standard input)')
  engineCommand(
    command,
    [
      'perdure events send-many @orders.jsonl',
      `jq -c '.orders[] | {name: "order.placed", data: .}' x.json | perdure events send-many -`,
    ],
    sendMany,
  )
}

/** Writes a line for each refused event; with `--json` a line for every event. Exits with 1 if one was refused. */
async function sendMany(context: EngineContext<object>, given = ''): Promise<number> {
  const { client, terminal, json } = context
  const events = eventsOf(await textOption('events', given, terminal))
  let sent = 0
  let refused = 0
  for (const body of requests(events)) {
    for (const reply of await client.sendEvents({ body }, context)) {
      const { error } = reply
      if (json) await terminal.out(jsonLine(reply))
      else if (error) terminal.say(plain(`event ${sent + refused + 1}: ${error.message} (${error.code})`))
      if (error) refused++
      else sent++
    }
  }
  if (!json) await terminal.out(`${sent} sent${refused === 0 ? '' : `, ${refused} refused`}`)
  return refused === 0 ? EXIT.ok : EXIT.refused
}

function eventsOf(text: string): SendEvent[] {
  const lines = text.trimStart().startsWith('[') ? [text] : text.split('\n').filter(line => line.trim() !== '')
  return lines.flatMap((line, i) => {
    try {
      return parseDigits(line) as SendEvent | SendEvent[]
    } catch (error) {
      throw new UsageError(`line ${i + 1} of the events is not valid JSON: ${(error as Error).message}`)
    }
  })
}

function* requests(events: readonly SendEvent[]): Generator<SendEvent[]> {
  let request: SendEvent[] = []
  let bytes = 0
  for (const event of events) {
    const size = Buffer.byteLength(stringifyDigits(event)) + 1
    if (request.length === EVENTS_OF_BATCH_MAX || (bytes + size > REQUEST_BYTES_MAX && request.length > 0)) {
      yield request
      request = []
      bytes = 0
    }
    request.push(event)
    bytes += size
  }
  if (request.length > 0) yield request
}
