// `perdure backup`, `restore`, `verify` and `move`: commands for a whole store.

import { statSync } from 'node:fs'
import { backupStore, type MoveProgress, moveStore, restoreStore, verifyStore } from '@perdure/engine'
import { type Command, Option } from 'commander'
import { type LocalContext, show } from '../command-line/commands.ts'
import { EXIT } from '../command-line/exit.ts'
import { UsageError } from '../command-line/flags.ts'
import { plain } from '../output/text.ts'
import { storeCommand, wholeStoreCommand } from './commands.ts'

/** Adds `perdure backup`, `restore`, `verify` and `move` to the program. */
export function maintenanceCommands(program: Command): void {
  storeCommand<{ force?: boolean; pid?: string }>(
    program
      .command('backup <file>')
      .description('copy a SQLite store into a file; its engine may run')
      .option('--force', 'replace the file if it exists')
      .option('--pid <pid>', 'copy the files that this engine has open: they were removed or replaced (Linux)'),
    ['perdure backup ./engine-2026-01-31.db', 'perdure backup ./saved.db --pid 4711'],
    async (context, store, file = '') => {
      const { force = false, pid } = context.options
      const bytes = await backupStore(store, file, { force, pid: pid === undefined ? undefined : processId(pid) })
      return show(context, { file, bytes }, () => [`backed up to ${file} (${bytes} bytes)`])
    },
  )

  storeCommand<{ force?: boolean }>(
    program
      .command('restore <file>')
      .description('replace a SQLite store by a backup; no engine may have it open')
      .option('--force', 'replace the store if there is one'),
    ['perdure restore ./engine-2026-01-31.db --store sqlite:./.perdure/engine.db --force'],
    async (context, store, file = '') => {
      await restoreStore(store, file, context.options)
      return show(context, { file, bytes: statSync(file).size }, () => [`restored ${file}`])
    },
  )

  storeCommand(
    program
      .command('verify')
      .description('check the rows of a store against the rules of the engine; the engine may run'),
    ['perdure verify', 'perdure verify --store postgres://engine@db/perdure --json | jq -r .check'],
    async (context, store) => {
      let count = 0
      for await (const violation of verifyStore(store)) {
        const { check, subject, message } = violation
        await show(context, violation, () => [plain(`${check} ${subject} ${message}`)])
        count++
      }
      if (count === 0 && !context.json) await context.terminal.out('no violations')
      return count === 0 ? EXIT.ok : EXIT.refused
    },
  )

  wholeStoreCommand<MoveOptions>(
    program
      .command('move')
      .description('copy a whole store into an empty one, SQLite or PostgreSQL; no engine may have either open')
      .addOption(new Option('--from <store>', 'the store that is copied; it stays as it is').makeOptionMandatory())
      .addOption(new Option('--to <store>', 'the empty store, which is created if it is missing').makeOptionMandatory())
      .option('--restart', 'discard the rows that an unfinished move has copied'),
    ['perdure move --from sqlite:./.perdure/engine.db --to postgres://engine@db/perdure'],
    moveWhole,
  )
}

function processId(text: string): number {
  if (!/^[1-9]\d{0,9}$/.test(text)) throw new UsageError(`--pid must be the number of a process, not "${text}"`)
  return Number(text)
}

/** Interval at which a long copy reports its progress. */
const SAY_EVERY_MS = 2000

interface MoveOptions {
  from: string
  to: string
  restart?: boolean
}

/** Prints a line for each table found equal on both sides, and for each violation that the source already had. */
async function moveWhole(context: LocalContext<MoveOptions>): Promise<undefined> {
  const { terminal, options, json } = context
  let rows = 0
  let saidAt = performance.now()
  for await (const progress of moveStore(options, options)) {
    if (progress.step === 'copied') {
      if (performance.now() - saidAt < SAY_EVERY_MS) continue
      saidAt = performance.now()
      terminal.say(`copied ${progress.rows} rows of ${progress.table}`)
    } else await show(context, progress, () => [lineOf(progress)])
    if (progress.step === 'compared') rows += progress.rows
  }
  if (!json) await terminal.out(`moved ${rows} rows: set ENGINE_STORE to the new store before you start an engine`)
}

function lineOf(progress: MoveProgress): string {
  if (progress.step !== 'violation') return plain(`${progress.table}: ${progress.rows} rows, equal on both sides`)
  const { check, subject, message } = progress.violation
  return plain(`the source and the copy violate a rule: ${check} ${subject} ${message}`)
}
