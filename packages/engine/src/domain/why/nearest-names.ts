// Names that the sender of an event may have meant. Used by dry runs and by the explanation of an event.

import { nearestNames } from '@perdure/protocol'
import type { CatalogView } from '../model/catalog.ts'

/** Names of triggers that are similar to the name, if no workflow has a trigger for it. */
export function nearestTo({ name }: { name: string }, catalog: CatalogView): { nearest?: string[] } {
  if (catalog.triggeredBy(name).length > 0) return {}
  const names = catalog.triggerNames().filter(other => !other.endsWith('*'))
  const nearest = nearestNames(name, names)
  return nearest.length === 0 ? {} : { nearest }
}
