// Wakes runs that were held by an earlier limit of their throttle. Called by the service that sets limits, by the pass loop,
// and when another engine has set limits.

import type { Change } from '../../domain/model/change.ts'
import type { Core } from './core.ts'

/** Wakes the start queues of a workflow, once this engine's catalog has the limits for their starts. */
export async function wakeThrottled(
  { store, announcer, clock }: Pick<Core, 'store' | 'announcer' | 'clock'>,
  { namespace, app, workflow: name }: { namespace: string; app: string; workflow: string },
): Promise<void> {
  const changes: Change[] = [{ type: 'workflow.throttled', namespace, app, name, at: clock.now() }]
  // If this fails, the runs query the throttle a little later when their hold ends.
  await store.commit({ guards: [], changes }).then(
    () => announcer.announce(changes),
    () => {},
  )
}
