// Compiles schemas at their first use, since compiling all of them would take a tenth of the start of an engine.

import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'

/** Returns a function that returns the compiled schema, the same one at every call. */
export function compiledOnce<const Schema extends TSchema>(schema: Schema) {
  const compile = () => Compile(schema)
  let compiled: ReturnType<typeof compile> | undefined
  return () => {
    compiled ??= compile()
    return compiled
  }
}
