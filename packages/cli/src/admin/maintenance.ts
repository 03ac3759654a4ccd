// `perdure backup`, `restore` and `verify`: commands for a whole store.

import { statSync } from 'node:fs'
import { backupStore, restoreStore, verifyStore } from '@perdure/engine'
import type { Command } from 'commander'
import { ended, outputOf, type SharedOptions, subcommand } from './session.ts'

interface CopyOptions extends SharedOptions {
  force?: boolean
}

const EXIT_VIOLATED = 1

/** Adds `perdure backup`, `restore` and `verify` to the program. */
export function maintenanceCommands(program: Command): void {
  subcommand(program, 'backup <file>', {
    description: 'copy a SQLite store into a file; its engine may run',
    examples: ['perdure backup ./engine-2026-01-31.db', 'perdure backup /mnt/backups/engine.db --force'],
  })
    .option('--force', 'replace the file if it exists')
    .action((file: string, options: CopyOptions, command: Command) =>
      ended(command, async () => {
        const bytes = await backupStore(options.store || undefined, file, options)
        outputOf(command, options).show({ file, bytes }, [`backed up to ${file} (${bytes} bytes)`])
      }),
    )

  subcommand(program, 'restore <file>', {
    description: 'replace a SQLite store by a backup; no engine may have it open',
    examples: ['perdure restore ./engine-2026-01-31.db --store sqlite:./.perdure/engine.db --force'],
  })
    .option('--force', 'replace the store if there is one')
    .action((file: string, options: CopyOptions, command: Command) =>
      ended(command, async () => {
        await restoreStore(options.store || undefined, file, options)
        outputOf(command, options).show({ file, bytes: statSync(file).size }, [`restored ${file}`])
      }),
    )

  subcommand(program, 'verify', {
    description: 'check the rows of a store against the rules of the engine; the engine may run',
    examples: ['perdure verify', 'perdure verify --store postgres://engine@db/perdure --json | jq -r .check'],
  }).action((options: SharedOptions, command: Command) =>
    ended(command, async () => {
      const output = outputOf(command, options)
      let count = 0
      for await (const violation of verifyStore(options.store || undefined)) {
        const { check, subject, message } = violation
        output.show(violation, [`${check} ${subject} ${message}`])
        count++
      }
      if (count > 0) process.exitCode = EXIT_VIOLATED
      else if (!options.json) output.show({}, ['no violations'])
    }),
  )
}
