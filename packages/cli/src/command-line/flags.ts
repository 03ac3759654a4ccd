// Parses the flags of the commands that pass them to the engine: `--name value` or `--name=value`, known names only.

import { nearestName } from '@perdure/protocol'

/** Bad usage of a command. Ends it with exit code 2. */
export class UsageError extends Error {}

/** A command whose flags are the engine's: it parses its arguments itself, and commander only lists it. */
export interface UnparsedCommand {
  /** The argument in the usage, such as `[entry]`. */
  argument?: string
  description: string
  help(flags: readonly string[]): string
  /** Runs the command line and returns the exit code. The code that starts the engine is loaded only for it. */
  run(args: readonly string[], engine: typeof import('@perdure/engine/serve')): Promise<number>
}

/** The names of flags. */
export interface FlagNames {
  known: readonly string[]
  /** Flags among `known` that are on or off; without a value they are on. */
  switches?: readonly string[]
  /** Flags that are parsed elsewhere: an unknown one may be a misspelling of them. */
  others?: readonly string[]
}

/**
 * Returns the flags as name -> value. Throws UsageError for an unknown name, suggesting the nearest one, a missing value or an
 * argument without a flag.
 */
export function parseFlags(
  args: readonly string[],
  { known, switches = [], others = [] }: FlagNames,
): Record<string, string> {
  const flags: Record<string, string> = {}
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] as string
    if (!arg.startsWith('--')) throw new UsageError(`"${arg}" is not a flag`)
    const [name, inline] = split(arg.slice(2))
    if (!known.includes(name)) throw new UsageError(unknownFlag(name, [...known, ...others]))
    const isBare = switches.includes(name) && (args[i + 1]?.startsWith('--') ?? true)
    const value = inline ?? (isBare ? '1' : args[++i])
    if (value === undefined) throw new UsageError(`--${name} needs a value`)
    flags[name] = value
  }
  return flags
}

function unknownFlag(name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known)
  return `there is no flag --${name}${nearest === undefined ? ' (--help lists them)' : `; did you mean --${nearest}?`}`
}

function split(flag: string): [name: string, value: string | undefined] {
  const equals = flag.indexOf('=')
  return equals < 0 ? [flag, undefined] : [flag.slice(0, equals), flag.slice(equals + 1)]
}
