// `perdure doctor`: passes its flags, those of `perdure serve`, to the engine's checks and prints the findings.

import { storeOfDev } from '../command-line/dev-record.ts'
import { EXIT } from '../command-line/exit.ts'
import { parseFlags, type UnparsedCommand } from '../command-line/flags.ts'
import { painter, wantsColour } from '../output/colour.ts'
import { jsonLine, plain } from '../output/text.ts'

const COLOURS = { ok: 'green', warning: 'yellow', error: 'red' } as const

export const doctor: UnparsedCommand = {
  description: 'check settings, store, disk and port, and report what is wrong',
  help: () => `Usage: perdure doctor [--json] [--flag value ...]

check everything that an engine with these settings depends on

The flags are those of perdure serve, each also an ENGINE_* variable. With ENGINE_URL (and ENGINE_API_KEY), the engine
at that address and its runners are checked too. It changes nothing; --json prints a line for each finding.

Exit codes: 0 no error was found (warnings do not count), 1 an error was found, 2 bad usage

Examples:
  perdure doctor
  perdure doctor --store postgres://engine@db/perdure --json | jq -r 'select(.verdict == "error") | .message'`,
  async run(args, { FLAGS, SWITCHES }) {
    const { examine } = await import('@perdure/engine')
    const json = args.includes('--json')
    const flags = parseFlags(
      args.filter(arg => arg !== '--json'),
      { known: FLAGS, switches: SWITCHES },
    )
    const paint = painter(wantsColour(process.stdout, process.env))
    let errors = 0
    // Variables and flags take precedence, as in the other commands.
    const store = storeOfDev()
    const env =
      store === undefined || process.env.ENGINE_STORE_FILE ? process.env : { ENGINE_STORE: store, ...process.env }
    for await (const finding of examine({ env, flags })) {
      const { check, verdict, message } = finding
      if (verdict === 'error') errors++
      const line = `${paint(COLOURS[verdict], verdict.padEnd(7))}  ${plain(`${check}: ${message}`)}`
      process.stdout.write(`${json ? jsonLine(finding) : line}\n`)
    }
    return errors === 0 ? EXIT.ok : EXIT.refused
  },
}
