// The violations that `perdure verify` finds in a store.

import { type Violation, verifyStore } from '@perdure/engine'

export async function violations(store: string): Promise<Violation[]> {
  const found: Violation[] = []
  for await (const violation of verifyStore(store)) found.push(violation)
  return found
}
