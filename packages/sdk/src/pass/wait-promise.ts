// The promise that a wait returns. It knows whether anybody got its event: if the wait has lost every race, the handler was not
// given the event, and the next wait can take it (docs/events.md#waits). Created by step-promise.ts, read by waits.ts.
//
// `Promise.race` and `Promise.any` pass the resolve functions of their own promise to `then`. The resolve function of a settled
// promise ignores its argument, so it does not check whether that is a promise: this shows whether the race was open. `await`
// does not call `then`. It reads `constructor` instead, and all functions of Promise do that too before they call `then`.

/** The functions of Promise that call `then` and matter here. */
const COMBINATORS = ['race', 'any', 'all', 'allSettled', 'catch', 'finally', 'resolve'] as const
type Combinator = (typeof COMBINATORS)[number]
/** `nobody`: no code at all, because an async function returned the promise. */
type Caller = Combinator | 'nobody' | undefined

export class WaitPromise<T> extends Promise<T> {
  static {
    Object.defineProperty(WaitPromise.prototype, 'constructor', {
      configurable: true,
      get(this: object) {
        return #listeners in this ? (this as WaitPromise<unknown>).#constructorFor() : WaitPromise
      },
    })
  }

  readonly #onSubscribe: (() => void) | undefined
  /** Hashed id of the step; absent on promises that `then` makes. */
  readonly stepId: string | undefined
  /** One function per listener, which returns whether the listener has got the value. */
  readonly #listeners: (() => boolean)[] = []
  #isAwaited = false
  /** Whether a callback made this promise and got the value. */
  #hasCallback = false
  #isInThen = false

  /** `onSubscribe` is called when somebody listens. */
  constructor(
    executor: (resolve: (value: T | PromiseLike<T>) => void, reject: (reason: unknown) => void) => void,
    onSubscribe?: () => void,
    stepId?: string,
  ) {
    super(executor)
    this.#onSubscribe = onSubscribe
    this.stepId = stepId
  }

  /** Whether anybody who has not lost a race got the value of the settled promise. */
  get isTaken(): boolean {
    return (
      this.#isAwaited ||
      this.#listeners.some(isTaken => isTaken()) ||
      (this.#listeners.length === 0 && this.#hasCallback)
    )
  }

  /** Whether only an `await` got the value: nobody can see whether the function around the `await` has lost a race. */
  get isOnlyAwaited(): boolean {
    return this.#isAwaited && !this.#listeners.some(isTaken => isTaken())
  }

  // biome-ignore lint/suspicious/noThenProperty: `Promise.race`, `Promise.all` and all others call `then`.
  override then<A = T, B = never>(
    onFulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.#onSubscribe?.()
    const combinator = callerOf(WaitPromise.prototype.then)
    if (onFulfilled && (combinator === 'race' || combinator === 'any')) return this.#raced(onFulfilled, onRejected)
    const derived = this.#plainThen(onFulfilled, onRejected)
    if (combinator === 'nobody') {
      this.#isAwaited = true
      return derived
    }
    const isWhole = combinator === 'all' || combinator === 'allSettled'
    derived.#hasCallback = typeof onFulfilled === 'function' && combinator !== 'finally'
    this.#listeners.push(() => isWhole || derived.isTaken)
    return derived
  }

  /** Prevents an unhandled rejection: a handler may await this promise only after another step. */
  silenced(): this {
    this.#plainThen(undefined, () => undefined)
    return this
  }

  #raced<A, B>(
    onFulfilled: (value: T) => A | PromiseLike<A>,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    let isTaken = false
    this.#listeners.push(() => isTaken)
    const probe = (value: T) => ({
      // biome-ignore lint/suspicious/noThenProperty: only a race that is open reads it.
      get then() {
        isTaken = true
        return (resolve: (value: T) => void) => resolve(value)
      },
    })
    const rejected = (reason: unknown) => {
      isTaken = true
      return onRejected?.(reason) as B
    }
    return this.#plainThen(value => onFulfilled(probe(value) as T), rejected)
  }

  #plainThen<A = T, B = never>(
    onFulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): WaitPromise<A | B> {
    this.#isInThen = true
    try {
      return super.then(onFulfilled, onRejected) as WaitPromise<A | B>
    } finally {
      this.#isInThen = false
    }
  }

  /** `then` makes promises of this class, so that they are followed too. All other code sees a promise that needs no wrapping. */
  #constructorFor(): PromiseConstructor {
    if (this.#isInThen) return WaitPromise as unknown as PromiseConstructor
    if (callerOf(getterOf(WaitPromise.prototype)) === undefined) {
      this.#isAwaited = true
      this.#onSubscribe?.()
    }
    return Promise
  }
}

function getterOf(prototype: object): () => unknown {
  return Object.getOwnPropertyDescriptor(prototype, 'constructor')?.get as () => unknown
}

/** The function of Promise that has called `callee`, if the platform shows it. */
function callerOf(callee: (...args: never[]) => unknown): Caller {
  const { prepareStackTrace, stackTraceLimit } = Error
  try {
    Error.stackTraceLimit = 1
    Error.prepareStackTrace = (_, sites) => sites
    const holder: { stack?: NodeJS.CallSite[] } = {}
    Error.captureStackTrace?.(holder, callee)
    if (holder.stack?.length === 0) return 'nobody'
    const site = holder.stack?.[0]
    const name = site?.getFunctionName()
    return site?.getFileName() == null ? COMBINATORS.find(one => one === name) : undefined
  } catch {
    return undefined
  } finally {
    Error.prepareStackTrace = prepareStackTrace
    Error.stackTraceLimit = stackTraceLimit
  }
}
