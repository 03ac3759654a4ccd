// Runs the `perdure` command of the arguments, and prints the name and the young generation of each thread that the first thread
// starts. SIGUSR2 ends the last of them once it is at rest: Node ends the process itself, by SIGABRT, when a thread ends within a call
// of an addon. Started by test/scenario/operating/engine-thread.test.ts.

import { syncBuiltinESMExports } from 'node:module'
import threads from 'node:worker_threads'

/** The start of an engine is over then. */
const REST_MS = 500

const { Worker } = threads
threads.Worker = class extends Worker {
  constructor(file, options) {
    super(file, options)
    const youngMb = options.resourceLimits?.maxYoungGenerationSizeMb ?? 'default'
    process.stdout.write(`thread ${options.name}: ${youngMb}\n`)
    process.removeAllListeners('SIGUSR2').on('SIGUSR2', () => setTimeout(() => void this.terminate(), REST_MS))
  }
}
syncBuiltinESMExports()

await import('../../../packages/cli/bin/perdure.js')
