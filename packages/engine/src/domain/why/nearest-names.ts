// Names that an event may have been meant to have. Part of dry runs and of the explanation of an event.

import { nearestNames } from '@perdure/protocol'
import type { CatalogView } from '../model/catalog.ts'

/** The names of triggers that are near to the name, if no workflow has a trigger for it. */
export function nearestTo({ name }: { name: string }, catalog: CatalogView): { nearest?: string[] } {
  if (catalog.triggeredBy(name).length > 0) return {}
  const names = catalog.triggerNames().filter(other => !other.endsWith('*'))
  const nearest = nearestNames(name, names)
  return nearest.length === 0 ? {} : { nearest }
}
