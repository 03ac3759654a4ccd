// Loaded before an engine process: replaces the SQLite module that the engine's threads import with `sqlite.mjs`, which plants a
// bug or kills the process at a commit.

import { register, syncBuiltinESMExports } from 'node:module'
import threads, { isMainThread, Worker } from 'node:worker_threads'

const replacement = new URL('./sqlite.mjs', import.meta.url).href
const hooks = `const MODULES = ['@photostructure/sqlite', 'node:sqlite']
export async function resolve(specifier, context, next) {
  const isReplaced = MODULES.includes(specifier) && !context.parentURL?.startsWith(${JSON.stringify(replacement)})
  if (!isReplaced) return next(specifier, context)
  return { url: ${JSON.stringify(replacement)} + '?' + specifier, shortCircuit: true }
}`

/** The engine does not pass flags of the main thread to its threads, so the thread's own flags load this file again. */
class Preloaded extends Worker {
  constructor(file, options) {
    super(file, { ...options, execArgv: [...options.execArgv, `--import=${import.meta.url}`] })
  }
}

if (isMainThread) {
  threads.Worker = Preloaded
  syncBuiltinESMExports()
} else register(`data:text/javascript,${encodeURIComponent(hooks)}`)
