// Names that the generator, the actions and the checkers share.

export const APPS = ['shop', 'mail'] as const

/** Events that trigger the workflows of a level, by a name or a wildcard. */
export const LEVELS = 3
export const eventsOfLevel = (level: number): string[] => [`go.${level}.a`, `go.${level}.b`]

/** Events that only waits look for. */
export const SIGNALS = ['sig.a', 'sig.b', 'sig.c'] as const
/** A signal that also starts a workflow, one that emits nothing. */
export const STARTING_SIGNAL = 'sig.c'

/** Deadline of a pass whose workflow sets none. */
export const INVOKE_TIMEOUT_MS = 30_000

export const HOOK_URL = 'http://hooks.example/'

export const NAMESPACES = ['default', 'other'] as const

/** The keys of direct starts: few, so that starts meet live runs. */
export const START_KEYS = ['one', 'two'] as const

/** The names of signals to one run. */
export const RUN_SIGNALS = ['go', 'team/stop'] as const
