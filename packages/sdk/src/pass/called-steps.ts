// The names of the steps that a handler has called in a pass, for its warnings and its answer. Owned by the pass.

import type { StepId } from './step-ids.ts'

export class CalledSteps {
  /** The steps that the engine had not stored. */
  readonly discovered: string[] = []
  /** The new steps that were called after the handler had returned; they are not executed. */
  readonly lost: string[] = []
  /** The step that the handler called last. */
  last: string | undefined
  /** The step whose promise the handler awaited last. */
  lastAwaited: string | undefined
  /** The steps whose promise nobody has awaited: names by hashed id. */
  readonly #unawaited = new Map<string, string>()

  called({ hashedId, name }: StepId): void {
    this.last = name
    this.#unawaited.set(hashedId, name)
  }

  awaited({ hashedId, name }: StepId): void {
    this.lastAwaited = name
    this.#unawaited.delete(hashedId)
  }

  lose(name: string): void {
    if (!this.lost.includes(name)) this.lost.push(name)
  }

  /** Returns the steps that nobody has awaited and that match, by default all. */
  unawaited(matches: (hashedId: string) => boolean = () => true): string[] {
    return [...this.#unawaited].filter(([hashedId]) => matches(hashedId)).map(([, name]) => name)
  }
}
