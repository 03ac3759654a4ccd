// Bounds of one pass. The engine accepts invoke responses up to 1 MiB; the other bounds keep a runner's memory bounded
// whatever its handlers do. Bounds that engine and runner share are in the protocol.

import { RESPONSE_BYTES_MAX } from '@perdure/protocol'

/** Maximum JSON of one result or payload, in bytes: the response limit minus space for the opcode around it. */
export const PAYLOAD_BYTES_MAX = RESPONSE_BYTES_MAX - 16 * 1024

/** Maximum invoke request that a runner reads, in bytes: twice the engine's bound on a run's state. */
export const REQUEST_BYTES_MAX = 64 * 1024 * 1024

/** Maximum number of log lines of one pass; further lines are dropped. */
export const LOG_LINES_MAX = 10_000

/** Maximum number of characters of one log message; the rest is cut off. */
export const LOG_MESSAGE_CHARS_MAX = 16_384

/** Maximum number of characters of an error's message, and of its stack; the rest is cut off. */
export const ERROR_CHARS_MAX = 16_384
