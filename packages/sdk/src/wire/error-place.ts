// Adds the step and the line to errors of the runtime such as "Cannot read properties of undefined", whose message does not
// say where the value was expected. Called where a thrown error is converted for the engine.

import type { StepError } from '@perdure/protocol'

/** Messages of V8 and of JavaScriptCore about a value that is missing or of another type. */
const RUNTIME_FAULT =
  /^Cannot (read|set|destructure|convert|access)\b|(is not|are not) (a function|a constructor|defined|iterable|an object)\b|^Assignment to constant|^Right side of assignment/

/** Returns the error with `where` and the line in its message, if it is an error of the runtime. */
export function placed(error: StepError, where: string): StepError {
  if (error.name !== 'TypeError' && error.name !== 'ReferenceError') return error
  if (!RUNTIME_FAULT.test(error.message)) return error
  const line = lineOf(error.stack ?? '')
  return { ...error, message: `${error.message} (in ${where}${line === undefined ? '' : `, ${line}`})` }
}

/**
 * Returns the first line of a stack that is in neither Node nor a package: `src/worker.ts:12:20`, relative to the working
 * directory.
 */
function lineOf(stack: string): string | undefined {
  for (const line of stack.split('\n').slice(1)) {
    const place = /(?:\(|at |@)((?:file:\/\/)?[^()\s]+:\d+:\d+)\)?$/.exec(line.trim())?.[1]
    if (place === undefined || /node:|[\\/]node_modules[\\/]/.test(place)) continue
    return fromHere(place.replace(/^file:\/\//, ''))
  }
  return undefined
}

function fromHere(place: string): string {
  const here = globalThis.process?.cwd?.()
  return here !== undefined && place.startsWith(`${here}/`) ? place.slice(here.length + 1) : place
}
