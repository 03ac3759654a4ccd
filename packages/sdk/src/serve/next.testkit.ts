// A Next app has no end of its own: tests end what its first request began.

import type { Registration } from '../registration.ts'

/** Stops the heartbeats of all Next apps of this process. */
export function stopNextHeartbeats(): void {
  const key = Symbol.for('perdure.next.registrations')
  const beating = (globalThis as unknown as Record<symbol, Map<string, Registration>>)[key]
  for (const registration of beating?.values() ?? []) registration.stop()
  beating?.clear()
}
