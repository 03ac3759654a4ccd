// `instanceof` across copies of the SDK. A workflow file may load its CommonJS build and the server around it its
// ES modules: each build has error classes of its own. Called by the error classes.

/**
 * Makes `instanceof kind` go by the brand that each instance bears. Classes derived from `kind` keep the ordinary
 * meaning: what bears the brand of the base need not be one of theirs.
 */
export function goByBrand(kind: abstract new (...args: never) => Error, brand: symbol): void {
  const ordinary = Function.prototype[Symbol.hasInstance]
  Object.defineProperty(kind, Symbol.hasInstance, {
    value(this: unknown, value: unknown): boolean {
      if (this !== kind) return ordinary.call(this as object as typeof Error, value)
      return value instanceof Error && brand in value
    },
  })
}
