// Stops the registrations of Next.js apps, which have no shutdown themselves.

import type { Registration } from '../runner/registration.ts'

/** Stops the heartbeats of all Next apps of this process. */
export function stopNextHeartbeats(): void {
  const key = Symbol.for('perdure.next.registrations')
  const registrations = (globalThis as unknown as Record<symbol, Map<string, Registration>>)[key]
  for (const registration of registrations?.values() ?? []) registration.stop()
  registrations?.clear()
}
