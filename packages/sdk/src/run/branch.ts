// A branch of a handler: the steps that one function of `step.race` calls, or the items of one `step.map`. A branch that is cut
// off gets no further result and calls no further step, and its callbacks are aborted. Kept in the scope of the pass.

export class Branch {
  readonly #outer: Branch | undefined
  #isCutOff = false

  /** `outer` is the branch in which this one begins. */
  constructor(outer?: Branch) {
    this.#outer = outer
  }

  get isCutOff(): boolean {
    return this.#isCutOff || this.#outer?.isCutOff === true
  }

  cutOff(): void {
    this.#isCutOff = true
  }
}

/** A function that calls steps, or a promise of a step that was called before. */
export type RaceBranch<T = unknown> = (() => T) | PromiseLike<T>

/** The branch that settled first, and its value. */
export type RaceResult<Branches extends Readonly<Record<string, RaceBranch>>> = {
  [Name in keyof Branches & string]: {
    readonly winner: Name
    readonly value: Awaited<Branches[Name] extends () => infer Returned ? Returned : Branches[Name]>
  }
}[keyof Branches & string]
