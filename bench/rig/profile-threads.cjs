// Preloaded into an engine that is profiled, and into its threads. Threads start without the flags of the main thread, so
// this file passes them the profiler's flags. A thread that sleeps in Atomics.wait would count as busy, so this file gives
// the sleep a function name that measure/profile.ts knows. CommonJS, because only such a preload runs before the engine
// binds its imports.

const { syncBuiltinESMExports } = require('node:module')
const workerThreads = require('node:worker_threads')

const { PERDURE_BENCH_PROFILE_DIR: dir } = process.env

if (workerThreads.isMainThread) {
  workerThreads.Worker = class ProfiledWorker extends workerThreads.Worker {
    /** @param {URL} entry @param {import('node:worker_threads').WorkerOptions} options */
    constructor(entry, options) {
      const name = `${options.name ?? 'thread'}-${process.pid}.cpuprofile`.replaceAll(' ', '_')
      const profiler = ['--cpu-prof', `--cpu-prof-dir=${dir}`, `--cpu-prof-name=${name}`]
      super(entry, {
        ...options,
        execArgv: [...(options.execArgv ?? []), ...profiler, '--require', __filename],
      })
    }
  }
  syncBuiltinESMExports()
} else {
  const { wait } = Atomics
  Atomics.wait = function profiledSleep(...args) {
    return wait(...args)
  }
}
