// `perdure runs token`: makes a token that reads one run, for a browser.

import type { Duration } from '@perdure/protocol'
import { type Command, Option } from 'commander'
import { showCommand } from '../../../command-line/operation.ts'
import { withAge } from '../../../output/time.ts'

/** Adds `perdure runs token` to `perdure runs`. */
export function tokenCommand(runs: Command): void {
  showCommand<'createRunToken', { ttl?: Duration }>(runs, 'token', {
    operation: 'createRunToken',
    description: 'create a token for a browser that reads one run, its result and its streams',
    examples: ['perdure runs token run_01K...', 'perdure runs token run_01K... --ttl 15m'],
    more: [new Option('--ttl <duration>', 'how long the token is valid: 1s to 24h (default: 1h)')],
    body: ({ options: { ttl } }) => ({ ttl }),
    lines: ({ token, expiresAt }) => [token, `until ${withAge(expiresAt)}`],
  })
}
