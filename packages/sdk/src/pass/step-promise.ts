// The promise that a step call returns. It reports when somebody first awaits it, so that a forgotten `await` can be logged.
// Created by the memo and the pass.

import { WaitPromise } from './wait-promise.ts'

export class StepPromise<T> extends Promise<T> {
  /** `then` returns an ordinary promise. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise
  }

  #onSubscribe: (() => void) | undefined
  /** Hashed id of the step; absent if the call was refused or came too late. */
  readonly stepId: string | undefined

  /** `onSubscribe` is called when `then` of the promise is called for the first time. */
  constructor(
    executor: (resolve: (value: T | PromiseLike<T>) => void, reject: (reason: unknown) => void) => void,
    onSubscribe?: () => void,
    stepId?: string,
  ) {
    super(executor)
    this.stepId = stepId
    this.#onSubscribe = onSubscribe
  }

  // biome-ignore lint/suspicious/noThenProperty: `await`, `Promise.all` and all others call `then`.
  override then<A = T, B = never>(
    onFulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.#onSubscribe?.()
    this.#onSubscribe = undefined
    return super.then(onFulfilled, onRejected)
  }

  /** Returns a promise of the same step with its data changed. Awaiting it counts as awaiting this promise. */
  mapped<U>(change: (value: T) => U): StepPromise<U> {
    const changed = super.then(change)
    const mapped = new StepPromise<U>(
      (resolve, reject) => changed.then(resolve, reject),
      () => {
        this.#onSubscribe?.()
        this.#onSubscribe = undefined
      },
      this.stepId,
    )
    return mapped.silenced()
  }

  /** The same, for a wait. */
  followed<U>(change: (value: T) => U): WaitPromise<U> {
    const changed = super.then(change)
    const followed = new WaitPromise<U>(
      (resolve, reject) => void changed.then(resolve, reject),
      () => {
        this.#onSubscribe?.()
        this.#onSubscribe = undefined
      },
      this.stepId,
    )
    return followed.silenced()
  }

  /** Prevents an unhandled rejection: a handler may await this promise only after another step. */
  silenced(): this {
    super.then(undefined, () => undefined)
    return this
  }
}

/** Returns a new promise each time: reactions to a shared promise that never settles would leak memory. */
export function never(): StepPromise<never> {
  return new StepPromise(() => undefined)
}
