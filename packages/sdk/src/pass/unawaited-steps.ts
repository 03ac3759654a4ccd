// The steps whose promise the handler has not awaited, for the warning at the end of a run. Kept by the pass.

import type { StepId } from './step-ids.ts'

export class UnawaitedSteps {
  /** Names by hashed id. */
  readonly #names = new Map<string, string>()
  /** Name of the step that the handler called last. */
  lastCalled: string | undefined

  called({ hashedId, name }: StepId): void {
    this.lastCalled = name
    this.#names.set(hashedId, name)
  }

  awaited(hashedId: string): void {
    this.#names.delete(hashedId)
  }

  /** The names of the steps that match, by default of all. */
  names(matches: (hashedId: string) => boolean = () => true): string[] {
    return [...this.#names].filter(([hashedId]) => matches(hashedId)).map(([, name]) => name)
  }
}
