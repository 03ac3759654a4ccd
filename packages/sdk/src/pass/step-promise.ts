// The promise that a step call returns. It reports when somebody awaits it first, so that a forgotten `await` can be
// logged. Created by the memo and the pass.

export class StepPromise<T> extends Promise<T> {
  /** `then` returns an ordinary promise. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise
  }

  #onSubscribe: (() => void) | undefined

  /** `onSubscribe` is called when `then` of the promise is called for the first time. */
  constructor(
    executor: (resolve: (value: T | PromiseLike<T>) => void, reject: (reason: unknown) => void) => void,
    onSubscribe?: () => void,
  ) {
    super(executor)
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

  /** Returns a promise of the same step with its data changed. To await it counts as awaiting this promise. */
  mapped<U>(change: (value: T) => U): StepPromise<U> {
    const changed = super.then(change)
    const mapped = new StepPromise<U>(
      (resolve, reject) => changed.then(resolve, reject),
      () => {
        this.#onSubscribe?.()
        this.#onSubscribe = undefined
      },
    )
    return mapped.silenced()
  }

  /** Prevents an unhandled rejection: a handler may await this promise only after another step. */
  silenced(): this {
    super.then(undefined, () => undefined)
    return this
  }
}
