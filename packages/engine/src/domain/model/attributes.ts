// The attributes of a run: facts by which lists find runs (docs/concepts.md#attributes). Pure data and functions; the indexed
// form of an attribute is its key and the text of its value, separated by a colon, which no key contains.

import { ATTRIBUTES_MAX, type AttributeChanges, type Attributes } from '@perdure/protocol'

export type { AttributeChanges, Attributes }

/** The attributes in their indexed form. */
export function attributeTexts(attributes: Attributes = {}): string[] {
  return Object.entries(attributes).map(([key, value]) => `${key}:${value}`)
}

/**
 * The attributes of all lists, up to the maximum: attributes of later lists replace those of earlier ones, and get room first.
 */
export function mergedAttributes(...lists: readonly (Attributes | undefined)[]): Attributes | undefined {
  const given = lists.filter(list => list !== undefined)
  if (given.length < 2) return given[0]
  const merged = new Map<string, Attributes[string]>()
  for (const list of given.reverse()) {
    for (const [key, value] of Object.entries(list)) {
      if (!merged.has(key) && merged.size < ATTRIBUTES_MAX) merged.set(key, value)
    }
  }
  return Object.fromEntries(merged)
}

/** The attributes after the changes, where null removes one. Undefined: nothing changes. */
export function changedAttributes(before: Attributes = {}, changes: AttributeChanges): Attributes | undefined {
  const after = new Map(Object.entries(before))
  let isChanged = false
  for (const [key, value] of Object.entries(changes)) {
    if ((after.get(key) ?? null) === value) continue
    isChanged = true
    if (value === null) after.delete(key)
    else after.set(key, value)
  }
  return isChanged ? Object.fromEntries(after) : undefined
}
