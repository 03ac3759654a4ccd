// The length of chains of runs that start each other, as children or by emitted events (docs/concepts.md#chains). A bound stops
// a workflow that starts itself endlessly. Used where runs are created, and by explanations.

import type { StepError } from '@perdure/protocol'
import type { Run } from '../model/run.ts'

/** From this generation on a chain is worth a warning. */
export const LONG_CHAIN = 20

/** The generation of the runs that this run starts. A run that no other run started is of generation 0. */
export function nextGeneration({ generation = 0 }: Pick<Run, 'generation'>): number {
  return generation + 1
}

/** The fault about a run that continues a long chain. */
export function chainFault({ app, workflow, id: runId, generation = 0 }: Readonly<Run>) {
  return { of: { app, workflow }, runId, generation }
}

/** The error of a step that would start a run beyond the bound. `what` names the prevented action. */
export function chainTooLong(what: string, max: number): StepError {
  const chain = `this run is generation ${max} in a chain of runs that start each other, as children or by emitted events`
  const remedy =
    'If the workflows start each other endlessly, stop them in the handler. If the chain is intended, raise the setting.'
  return {
    name: 'ChainTooLongError',
    message: `${what}: ${chain}, and ENGINE_GENERATION_LIMIT is ${max}. ${remedy}`,
  }
}

/** The warning about a chain that may be endless; undefined for a shorter one. */
export function chainWarning(generation: number | undefined, max: number): string | undefined {
  if (generation === undefined || generation < Math.min(LONG_CHAIN, max)) return undefined
  return `Generation ${generation} of a chain of runs that start each other, as children or by emitted events: it is stopped at generation ${max} (ENGINE_GENERATION_LIMIT). Make sure that it ends.`
}
