// `perdure runs settle` ends an outstanding step by hand, `perdure runs callback` one that waits for its callback, as a post to its
// URL does.

import { type Command, Option } from 'commander'
import type { EngineContext } from '../../../command-line/commands.ts'
import { UsageError } from '../../../command-line/flags.ts'
import { showCommand } from '../../../command-line/operation.ts'
import { jsonOption } from '../../../command-line/options.ts'

interface SettleOptions {
  data?: string
  error?: string
  reason?: string
}

/** Adds `perdure runs settle` to `perdure runs`. */
export function settleCommand(runs: Command): void {
  showCommand(runs, 'settle', {
    operation: 'settleStep',
    description: 'settle a step that waits, sleeps, runs or will be retried: give it a result or an error by hand',
    examples: [
      `perdure runs settle run_01K... parcel-left --data null --reason "the carrier called"`,
      `perdure runs settle run_01K... charge:1 --error "declined by phone" --reason "ticket 4711"`,
    ],
    more: [
      new Option('--data <json>', 'the result of the step; @file reads a file, - standard input'),
      new Option('--error <message>', 'the error of the step, which the handler can catch'),
      new Option('--reason <text>', 'why; kept with the step and in the audit log').makeOptionMandatory(),
    ],
    body: async ({ options: { data, error, reason = '' }, terminal }: EngineContext<SettleOptions>) => {
      if ((data === undefined) === (error === undefined)) throw new UsageError('give either --data or --error')
      if (error !== undefined) return { error: { message: error }, reason }
      return { data: await jsonOption('--data', data as string, terminal), reason }
    },
    lines: ({ name, status }) => [`${name} ${status}`],
  })
}

/** Adds `perdure runs callback` to `perdure runs`. */
export function callbackCommand(runs: Command): void {
  showCommand(runs, 'callback', {
    operation: 'completeCallback',
    description: "complete a step that waits for its callback, by the callback's URL or token",
    examples: [`perdure runs callback "$URL" --data '{"approved": true}'`],
    more: [new Option('--data <json>', 'the result of the step; @file reads a file, - standard input')],
    body: async ({ options: { data }, terminal }: EngineContext<{ data?: string }>) =>
      data === undefined ? null : await jsonOption('--data', data, terminal),
    lines: () => ['the callback is stored'],
  })
}
