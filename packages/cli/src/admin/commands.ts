// The shared parts of the admin commands: they open the store, and turn errors into one line and an exit code.

import {
  type AdministrationOptions,
  ConfigError,
  type OpenAdministration,
  openAdministration,
  storeOfEnvironment,
} from '@perdure/engine'
import { type Command, Option } from 'commander'
import { type LocalContext, localCommand } from '../command-line/commands.ts'
import { storeOfDev } from '../command-line/dev-record.ts'
import { EXIT, RefusedError } from '../command-line/exit.ts'
import { UsageError } from '../command-line/flags.ts'

interface StoreOptions {
  store?: string
}

type Administration = OpenAdministration['administration']
type StoreContext<Options> = LocalContext<Options & StoreOptions>
type Result = Promise<number | undefined>

/** Makes `command` act on the store that `--store` names; `action` gets that store. */
export function storeCommand<Options = object>(
  command: Command,
  examples: readonly string[],
  action: (context: StoreContext<Options>, store: string | undefined, ...args: string[]) => Result,
): void {
  const store =
    'the store, as in perdure serve (default: the store of perdure dev in this folder, or sqlite:./.perdure/engine.db)'
  command.addOption(new Option('--store <store>', `${store} (env: ENGINE_STORE)`))
  wholeStoreCommand<Options & StoreOptions>(command, examples, async (context, ...args) =>
    action(context, context.options.store || storeOfEnvironment(process.env) || devStore(context), ...args),
  )
}

/** The store of `perdure dev` in this folder, if it applies. */
function devStore({ terminal }: LocalContext<unknown>): string | undefined {
  const store = storeOfDev()
  if (store !== undefined) terminal.say(`using the store of perdure dev: ${store}`)
  return store
}

/** Makes `command` act on stores named by its own options. */
export function wholeStoreCommand<Options>(
  command: Command,
  examples: readonly string[],
  action: (context: LocalContext<Options>, ...args: string[]) => Result,
): void {
  localCommand<Options>(command, examples, async (context, ...args) => {
    // Nothing has to be ended in order: a store survives an interruption at any moment.
    context.signal.addEventListener('abort', () => process.exit(EXIT.interrupted))
    try {
      return await action(context, ...args)
    } catch (error) {
      const { message, code } = error as NodeJS.ErrnoException
      if (code === 'EPIPE') throw error
      throw error instanceof ConfigError ? new UsageError(message) : new RefusedError(message)
    }
  })
}

/** Makes `command` administer the store, which stays open while `action` runs. */
export function adminCommand<Options = object>(
  command: Command,
  examples: readonly string[],
  action: (context: StoreContext<Options>, administration: Administration, ...args: string[]) => Result,
  opening: AdministrationOptions = {},
): void {
  storeCommand<Options>(command, examples, async (context, store, ...args) => {
    const { administration, close } = await openAdministration(store, opening)
    return action(context, administration, ...args).finally(close)
  })
}

/** Epoch ms in the API's time format. */
export function timestamp(at: number): string {
  return new Date(at).toISOString()
}
