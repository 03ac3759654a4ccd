// The wire version, and the names of headers and subprotocol. Engine and SDK import them.

/** Version of the wire between engine and runner. A peer that sends no version is assumed to be compatible. */
export const PROTOCOL_VERSION = 1

/** Header of every engine-to-runner HTTP invoke that carries {@link PROTOCOL_VERSION}. */
export const PROTOCOL_HEADER = 'x-engine-protocol'

/** Header of every engine-to-runner request that carries the integrity signature (see `invoke-signature.ts`). */
export const SIGNATURE_HEADER = 'x-engine-signature'

/**
 * Header of a Connect handshake: the host that the runner dialled. An engine that knows it signs its answer for that host
 * (`docs/wire-protocol.md#proof-of-the-engine`).
 */
export const DIALLED_HOST_HEADER = 'x-engine-host'

/**
 * Header of a heartbeat outside the socket (`docs/wire-protocol.md#a-blocked-event-loop`): the instances of the runner's sockets,
 * separated by commas.
 */
export const BEATS_HEADER = 'x-engine-beats'

/** Header of such a heartbeat: the step that began last, percent-encoded. */
export const BEATS_STEP_HEADER = 'x-engine-beats-step'

/** Header of every answer of a runner over HTTP that names the feature `marked-answers`: a gateway in front of the runner does not send it. */
export const RUNNER_HEADER = 'x-perdure-runner'

/** The value of {@link RUNNER_HEADER}. */
export const RUNNER_MARK = '1'

/** The `code` in the error of a 4xx or 5xx: the runner does not recognise the caller as its engine, so it has run nothing. */
export const ENGINE_REFUSED = 'engine_refused'

/** WebSocket subprotocol of the Connect transport. */
export const CONNECT_SUBPROTOCOL = 'engine.connect.v0'
