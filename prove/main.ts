// `npm run prove`: runs the suites one after the other, prints a verdict line for each and a table of all. Exits with code 1 if a
// promise does not hold. Ctrl-C ends it and removes everything that it has created.

import { closeOpened } from '../test/kit/cleanup.ts'
import { readOptions, usage } from './options.ts'
import { problemLines, table, type Verdict, verdictLine, wordOf } from './report.ts'
import { runSuite } from './run.ts'
import { type OwnServers, startOwnServers } from './servers/own-servers.ts'
import { NAMES, SUITES } from './suites.ts'

/** Suites that use PostgreSQL and Redis. */
const ON_SERVERS: readonly string[] = ['teeth', 'clock', 'redis-silence', 'fencing', 'cluster']

const EXIT_INTERRUPTED = 130

/** Maximum number of listeners: each process that a suite opens ends with this one. */
const PROCESSES_MAX = 100

async function main(args: readonly string[]): Promise<number> {
  process.setMaxListeners(PROCESSES_MAX)
  if (args.includes('--help')) {
    console.log(usage(NAMES))
    return 0
  }
  const options = readOptions(args, NAMES)
  if (options.isListOnly) {
    for (const [name, load] of Object.entries(SUITES)) console.log(`${name.padEnd(14)} ${(await load()).proves}`)
    return 0
  }
  const { suites } = options
  const chosen = Object.entries(SUITES).filter(([name]) => suites.length === 0 || suites.includes(name))
  const servers = chosen.some(([name]) => ON_SERVERS.includes(name)) ? await startOwnServers() : undefined
  removeOnInterrupt(servers)
  const verdicts: Verdict[] = []
  for (const [name, load] of chosen) {
    const verdict = await runSuite(name, await load(), options)
    if (interruption) return interruption
    console.log([verdictLine(verdict), ...problemLines(verdict)].join('\n'))
    verdicts.push(verdict)
  }
  await servers?.stop()
  console.log(`\n${table(verdicts)}`)
  return verdicts.some(({ finding }) => wordOf(finding) === 'FAILS') ? 1 : 0
}

/** Set by the first signal: resolves with the exit code when everything that was open is closed. */
let interruption: Promise<number> | undefined

/** Closes everything that is open at the first signal; a second signal ends the process at once. */
function removeOnInterrupt(servers: OwnServers | undefined): void {
  const end = async () => {
    await closeOpened().catch(() => {})
    await servers?.stop()
    return EXIT_INTERRUPTED
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (interruption) process.exit(EXIT_INTERRUPTED)
      interruption = end()
      void interruption.then(code => process.exit(code))
    })
  }
}

main(process.argv.slice(2)).then(
  code => process.exit(code),
  error => {
    console.error(`prove: ${(error as Error).message}`)
    process.exit(2)
  },
)
