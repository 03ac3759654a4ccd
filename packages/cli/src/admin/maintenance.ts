// `perdure backup`, `restore` and `verify`: commands for a whole store.

import { statSync } from 'node:fs'
import { backupStore, restoreStore, verifyStore } from '@perdure/engine'
import type { Command } from 'commander'
import { EXIT } from '../command-line/exit.ts'
import { show } from '../command-line/session.ts'
import { plain } from '../output/text.ts'
import { storeCommand } from './session.ts'

/** Adds `perdure backup`, `restore` and `verify` to the program. */
export function maintenanceCommands(program: Command): void {
  storeCommand<{ force?: boolean }>(
    program
      .command('backup <file>')
      .description('copy a SQLite store into a file; its engine may run')
      .option('--force', 'replace the file if it exists'),
    ['perdure backup ./engine-2026-01-31.db', 'perdure backup /mnt/backups/engine.db --force'],
    async (session, store, file = '') => {
      const bytes = await backupStore(store, file, session.options)
      return show(session, { file, bytes }, () => [`backed up to ${file} (${bytes} bytes)`])
    },
  )

  storeCommand<{ force?: boolean }>(
    program
      .command('restore <file>')
      .description('replace a SQLite store by a backup; no engine may have it open')
      .option('--force', 'replace the store if there is one'),
    ['perdure restore ./engine-2026-01-31.db --store sqlite:./.perdure/engine.db --force'],
    async (session, store, file = '') => {
      await restoreStore(store, file, session.options)
      return show(session, { file, bytes: statSync(file).size }, () => [`restored ${file}`])
    },
  )

  storeCommand(
    program
      .command('verify')
      .description('check the rows of a store against the rules of the engine; the engine may run'),
    ['perdure verify', 'perdure verify --store postgres://engine@db/perdure --json | jq -r .check'],
    async (session, store) => {
      let count = 0
      for await (const violation of verifyStore(store)) {
        const { check, subject, message } = violation
        await show(session, violation, () => [plain(`${check} ${subject} ${message}`)])
        count++
      }
      if (count === 0 && !session.json) await session.terminal.out('no violations')
      return count === 0 ? EXIT.ok : EXIT.refused
    },
  )
}
