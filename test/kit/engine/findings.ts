// The findings of `perdure doctor`, by check name.

import { examine, type Finding } from '@perdure/engine'

/** Examines a configuration given as environment variables. */
export async function findings(env: Record<string, string>): Promise<Map<string, Finding>> {
  const found = new Map<string, Finding>()
  for await (const finding of examine({ env: { ENGINE_PORT: '0', ...env }, flags: {} }))
    found.set(finding.check, finding)
  return found
}

/** The verdict of one check. */
export const verdictOf = (found: Map<string, Finding>, check: string) => found.get(check)?.verdict
