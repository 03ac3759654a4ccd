// The states of error groups (docs/errors.md#states-of-error-groups). A person sets them. A failure after a resolution shows
// from the times alone, so a failing run writes nothing for it.

/** The stored states; a group without one is open. */
export const STORED_STATES = ['resolved', 'ignored'] as const
export type StoredState = (typeof STORED_STATES)[number]

/** `regressed`: resolved, and a run of the group has failed since. It counts as open. */
export type ErrorState = 'open' | 'regressed' | StoredState

/** The state of a group, from the state that was stored at `savedAt`, and the time when the last of its runs failed. */
export function errorState(stored: { state: StoredState; savedAt: number } | undefined, lastAt: number): ErrorState {
  if (!stored) return 'open'
  return stored.state === 'resolved' && lastAt > stored.savedAt ? 'regressed' : stored.state
}
