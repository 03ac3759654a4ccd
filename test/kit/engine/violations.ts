// The violations that `perdure verify` finds in a store.

import { type Violation, verifyStore } from '@perdure/engine'

/** The same for the store of a test's engine. It may be a file. */
export function violationsIn(storeFile: string): Promise<Violation[]> {
  return violations(storeFile.startsWith('postgres') ? storeFile : `sqlite:${storeFile}`)
}

export async function violations(store: string): Promise<Violation[]> {
  const found: Violation[] = []
  for await (const violation of verifyStore(store)) found.push(violation)
  return found
}
