// The promise a step call gives: it knows whether anybody ever looked at it, so that a forgotten `await` can be told.

export class StepPromise<T> extends Promise<T> {
  /** What `then` gives is an ordinary promise. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise
  }

  #onSubscribe: (() => void) | undefined

  /** `onSubscribe` is called when somebody looks at the promise for the first time. */
  constructor(
    executor: (resolve: (value: T | PromiseLike<T>) => void, reject: (reason: unknown) => void) => void,
    onSubscribe?: () => void,
  ) {
    super(executor)
    this.#onSubscribe = onSubscribe
  }

  // biome-ignore lint/suspicious/noThenProperty: `await`, `Promise.all` and all others come through here.
  override then<A = T, B = never>(
    onFulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.#onSubscribe?.()
    this.#onSubscribe = undefined
    return super.then(onFulfilled, onRejected)
  }

  /** The same step with its data replaced: to look at it is to look at this one. */
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

  /** A handler may look at this promise only after another step: until then a rejection is no accident. */
  silenced(): this {
    super.then(undefined, () => undefined)
    return this
  }
}
