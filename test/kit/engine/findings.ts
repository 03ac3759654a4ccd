// What `perdure doctor` finds, by the name of the check.

import { examine, type Finding } from '@perdure/engine'

/** Examines what the environment names. */
export async function findings(env: Record<string, string>): Promise<Map<string, Finding>> {
  const found = new Map<string, Finding>()
  for await (const finding of examine({ env: { ENGINE_PORT: '0', ...env }, flags: {} }))
    found.set(finding.check, finding)
  return found
}

/** What it says of one check. */
export const verdictOf = (found: Map<string, Finding>, check: string) => found.get(check)?.verdict
