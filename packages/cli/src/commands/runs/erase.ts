// `perdure runs erase`: erases a finished run for good.

import type { Command } from 'commander'
import { EXIT } from '../../command-line/exit.ts'
import { UsageError } from '../../command-line/flags.ts'
import { wholeId } from '../../command-line/ids.ts'
import { engineCommand, show } from '../../command-line/session.ts'

/** Adds `erase` to `perdure runs`. */
export function eraseCommand(runs: Command): void {
  const command = runs
    .command('erase <id>')
    .description('erase a finished run with its steps, logs and payloads, for good')
    .option('-y, --yes', 'do not ask for confirmation')
  engineCommand<{ yes?: true }>(command, ['perdure runs erase run_01K...'], async (session, given = '') => {
    const { client, options, terminal } = session
    const id = await wholeId(session, given)
    if (!options.yes) {
      if (!terminal.interactive) throw new UsageError('without a terminal to ask on, give --yes')
      if (!(await terminal.confirm(`Erase ${id} for good?`))) return EXIT.refused
    }
    await client.eraseRun({ id }, session)
    return show(session, { id, erased: true }, () => [`${id} is erased`])
  })
}
