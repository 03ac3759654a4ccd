// Bounds of one pass. The contract's section 8 caps an invoke response at 1 MiB; the rest keeps a runner's
// memory bounded whatever its handlers do.

/** Largest response to an invoke, in bytes (contract §8). */
export const RESPONSE_BYTES_MAX = 1024 * 1024

/** Largest JSON of one result or payload: the response cap less room for the opcode around it. */
export const PAYLOAD_BYTES_MAX = RESPONSE_BYTES_MAX - 16 * 1024

/** Largest invoke request a runner reads: the engine's bound on a run's state, twice over. */
export const REQUEST_BYTES_MAX = 64 * 1024 * 1024

/** Log lines kept of one pass. */
export const LOG_LINES_MAX = 10_000

/** Characters kept of one log message. */
export const LOG_MESSAGE_CHARS_MAX = 16_384

/** Characters kept of an error's message and of its stack. */
export const ERROR_CHARS_MAX = 16_384

/** Steps one run may have (the engine's own bound). */
export const STEPS_MAX = 10_000

/** Characters of a step name, and of a workflow's or event's name. */
export const STEP_NAME_CHARS_MAX = 1024
export const NAME_CHARS_MAX = 256

/** Longest sleep or timeout: a hundred years. */
export const DELAY_MS_MAX = 3_155_760_000_000
