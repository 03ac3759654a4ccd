// Types of the middleware that changes values on their way from and to the engine. The SDK's middleware extends it.

/** Where a value comes from: the run's event, or the result of a step, a wait, a callback or a child. */
export interface InputPlace {
  readonly kind: 'event' | 'step' | 'wait' | 'callback' | 'child'
  /** The step's name; for kind `event`, the event's name. */
  readonly name: string
  /** The event's name, for kind `wait` only. */
  readonly eventName?: string
}

/** Where a value goes: a step's or the run's result, or the data of a child, an event or a webhook. */
export interface OutputPlace {
  readonly kind: 'step' | 'result' | 'child' | 'emit' | 'webhook' | 'event'
  /** The step's name; for kind `result` the workflow's name, for `event` (sent by a client) the event's name. */
  readonly name: string
  /** The event's name, for kind `emit` only. */
  readonly eventName?: string
}

/** Code around every value on its way from and to the engine: all of a middleware that a client calls. */
export interface ValueMiddleware {
  /** Names the middleware in error messages. */
  readonly name: string
  /**
   * Changes a value on its way from the engine to the handler, outermost first. It must be synchronous (the order of a
   * run's steps must not depend on timing) and return the same for the same value. It is never called with `undefined`.
   * The payloads of a collected event (`batch`) are passed one by one.
   */
  transformInput?(value: unknown, place: InputPlace): unknown
  /** Changes a value on its way to the engine, innermost first. It must be synchronous and return JSON. */
  transformOutput?(value: unknown, place: OutputPlace): unknown
}
