// `instanceof` across copies of the SDK. A workflow file may load the CommonJS build while the server around it loads
// the ES modules, and each build has error classes of its own. Called by the error classes.

/**
 * Makes `instanceof kind` check for the brand, a symbol that every instance has as a property. Classes derived from
 * `kind` keep the ordinary `instanceof`, since an instance of the base class also has the brand.
 */
export function matchByBrand(kind: abstract new (...args: never) => Error, brand: symbol): void {
  const ordinary = Function.prototype[Symbol.hasInstance]
  Object.defineProperty(kind, Symbol.hasInstance, {
    value(this: unknown, value: unknown): boolean {
      if (this !== kind) return ordinary.call(this as object as typeof Error, value)
      return value instanceof Error && brand in value
    },
  })
}
