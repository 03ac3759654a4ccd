// The changed fields of a form, in the form of an update of an endpoint or a receiver. Pure.

type Value = string | readonly string[]

const isEmpty = (value: Value) => value.length === 0
const textOf = (value: Value | undefined) =>
  JSON.stringify(typeof value === 'string' ? value : [...(value ?? [])].sort())

/**
 * Returns the fields whose values differ. An optional field that was emptied is null, which removes it; `required` ones stay
 * empty.
 */
export function changedOf<Values extends object>(
  before: Values,
  values: Values,
  required: readonly (keyof Values)[] = ['url', 'eventKinds', 'eventName'] as never,
): Record<string, Value | null> {
  const entries = Object.entries(values) as [keyof Values & string, Value][]
  return Object.fromEntries(
    entries.flatMap(([name, value]) => {
      if (textOf(value) === textOf(before[name] as Value)) return []
      return [[name, isEmpty(value) && !required.includes(name) ? null : value]]
    }),
  )
}
