// Marks error classes with registered symbols (brands). Called by the classes of the client and of the SDK.
//
// `instanceof` checks for the brand: two copies of a package in one process must recognise each other's errors. A workflow file
// may load the CommonJS build while the server around it loads the ES modules.

/**
 * Makes `instanceof kind` check for the brand, a symbol that every instance has as a property. Classes derived from
 * `kind` keep the ordinary `instanceof`, since an instance of the base class also has the brand. Instances of a class that
 * shares the brand of its base are recognised by their `name`.
 */
export function matchByBrand(kind: abstract new (...args: never) => Error, brand: symbol, name?: string): void {
  const ordinary = Function.prototype[Symbol.hasInstance]
  Object.defineProperty(kind, Symbol.hasInstance, {
    value(this: unknown, value: unknown): boolean {
      if (ordinary.call(this as object as typeof Error, value)) return true
      return this === kind && value instanceof Error && brand in value && (name ?? value.name) === value.name
    },
  })
}
