// `perdure runs callback`: completes a step that waits for its callback, as a post to its URL does.

import { type Command, Option } from 'commander'
import type { EngineContext } from '../../../command-line/commands.ts'
import { showCommand } from '../../../command-line/operation.ts'
import { jsonOption } from '../../../command-line/options.ts'

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
