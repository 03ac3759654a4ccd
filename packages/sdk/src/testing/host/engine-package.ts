// Loads the engine. The testing kit requires it. The engine is an ES module, so it is imported dynamically: this works from the
// CommonJS build of the kit too. Called by test-engine.ts.

import { oldNodeProblem } from '@perdure/protocol'
import { TestingError } from './errors.ts'

export type EnginePackage = Awaited<ReturnType<typeof loadEngine>>

export async function loadEngine() {
  const problem = oldNodeProblem()
  if (problem !== undefined) throw new TestingError(problem)
  return import('@perdure/engine')
}
