// Runs the `perdure` command of the arguments, and prints the name and the young generation of each thread that the first thread
// starts. SIGUSR2 ends the last of them. Started by test/scenario/operating/engine-thread.test.ts.

import { syncBuiltinESMExports } from 'node:module'
import threads from 'node:worker_threads'

const { Worker } = threads
threads.Worker = class extends Worker {
  constructor(file, options) {
    super(file, options)
    const youngMb = options.resourceLimits?.maxYoungGenerationSizeMb ?? 'default'
    process.stdout.write(`thread ${options.name}: ${youngMb}\n`)
    process.removeAllListeners('SIGUSR2').on('SIGUSR2', () => void this.terminate())
  }
}
syncBuiltinESMExports()

await import('../../../packages/cli/bin/perdure.js')
