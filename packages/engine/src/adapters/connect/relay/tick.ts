// The tick of the relay: the interval at which engines announce and request repeatedly, and the unit in which they count silence.
// Silence is counted in ticks, so a machine that slept or a clock that was set declares no engine dead.

export const RELAY_TICK_MS = 2000

/** A call is given up after more ticks than this without a message about it, by its caller and by its host. */
export const CALL_SILENT_TICKS_MAX = 7
