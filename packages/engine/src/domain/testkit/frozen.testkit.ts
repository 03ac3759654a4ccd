// Freezes the inputs and results of decisions in tests: a decision that changes any of these throws. Decisions must draft new
// objects, since their owner, the catalog and earlier decisions share the old ones.

/** Freezes the value in depth: objects, arrays, and the entries of Maps and Sets. Instances of classes are not frozen. */
export function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  if (value instanceof Map || value instanceof Set) {
    for (const [key, entry] of value.entries()) {
      frozen(key)
      frozen(entry)
    }
    const refuse = () => {
      throw new TypeError('Cannot change a frozen Map or Set')
    }
    for (const name of ['set', 'add', 'delete', 'clear']) {
      if (name in value) Object.defineProperty(value, name, { value: refuse })
    }
    return Object.freeze(value)
  }
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== Array.prototype && prototype !== null) return value
  Object.freeze(value)
  for (const member of Object.values(value)) frozen(member)
  return value
}
