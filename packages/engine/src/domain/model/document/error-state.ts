// The states of error groups (docs/errors.md#states-of-error-groups). A person sets them; a failure after a resolution shows from the
// times alone, so that a run which fails writes nothing for it.

/** The states that are stored; a group without one is open. */
export const STORED_STATES = ['resolved', 'ignored'] as const
export type StoredState = (typeof STORED_STATES)[number]

/** `regressed`: resolved, and a run of the group has failed since. It counts as open. */
export type ErrorState = 'open' | 'regressed' | StoredState

/** The state of a group: what was stored at `savedAt`, and when the last of its runs failed. */
export function errorState(stored: { state: StoredState; savedAt: number } | undefined, lastAt: number): ErrorState {
  if (!stored) return 'open'
  return stored.state === 'resolved' && lastAt > stored.savedAt ? 'regressed' : stored.state
}
