// Restores a stored error. Called for the error of a run that ended, and by the SDK for the errors of steps.

import type { StepError } from '@perdure/protocol/portable'

/** Marks an error that was stored: its stack contains the stacks of its causes. */
export const WHOLE_STACK: unique symbol = Symbol.for('perdure.whole-stack') as never

/** Gives an error the stored properties of another: name, stack, own fields, code and cause. */
export function restore<E extends Error>(target: E, error: StepError): E {
  target.name = error.name ?? 'Error'
  target.stack = error.stack ?? `${target.name}: ${error.message}`
  const { code, fields = {}, cause } = error
  for (const [field, value] of Object.entries({ ...(code === undefined ? {} : { code }), ...fields })) {
    if (!(field in Error.prototype)) define(target, field, value, true)
  }
  if (cause !== undefined) define(target, 'cause', restore(new Error(cause.message), cause))
  define(target, WHOLE_STACK, true)
  return target
}

/** Defines a property that the code may change, and that is not listed unless it is `enumerable`. */
export function define(target: Error, name: string | symbol, value: unknown, enumerable = false): void {
  Object.defineProperty(target, name, { value, enumerable, writable: true, configurable: true })
}
