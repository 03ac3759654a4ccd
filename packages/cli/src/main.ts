// The `perdure` command: runs one command line and returns the exit code.

import { oldNodeProblem } from '@perdure/protocol'
import { EXIT, exitOf } from './command-line/exit.ts'
import type { UnparsedCommand } from './command-line/flags.ts'
import { forTerminal, withoutKeys } from './output/text.ts'
import { UNPARSED } from './unparsed.ts'

/** Runs one command line (without node and script); returns the exit code. */
export async function main(args: readonly string[]): Promise<number> {
  const problem = oldNodeProblem()
  if (problem !== undefined) {
    process.stderr.write(`perdure: ${problem}\n`)
    return EXIT.usage
  }
  try {
    const given = normal(args)
    const unparsed = UNPARSED.get(given[0] ?? '')
    if (unparsed) return await runUnparsed(unparsed, given.slice(1))
    const { programFor } = await import('./program.ts')
    const program = await programFor(given[0])
    await program.parseAsync(given, { from: 'user' })
    return Number(process.exitCode ?? 0)
  } catch (error) {
    const { code, message } = exitOf(error)
    if (message !== undefined) process.stderr.write(`perdure: ${forTerminal(withoutKeys(message))}\n`)
    return code
  }
}

async function runUnparsed({ help, run }: UnparsedCommand, args: readonly string[]): Promise<number> {
  const engine = await import('@perdure/engine/serve')
  if (!args.includes('--help') && !args.includes('-h')) return run(args, engine)
  process.stdout.write(`${help(engine.FLAGS)}\n`)
  return EXIT.ok
}

/** Turns no arguments into `--help`, and `help x` into `x --help`. */
function normal(args: readonly string[]): string[] {
  if (args.length === 0) return ['--help']
  return args[0] === 'help' ? [...args.slice(1), '--help'] : [...args]
}
