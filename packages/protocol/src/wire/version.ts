// The wire version, and the names of headers and subprotocol. Engine and SDK import them.

/** Version of the wire between engine and runner. A peer that sends no version is assumed to be compatible. */
export const PROTOCOL_VERSION = 1

/** Header of every engine-to-runner HTTP invoke that carries {@link PROTOCOL_VERSION}. */
export const PROTOCOL_HEADER = 'x-engine-protocol'

/** Header of every engine-to-runner request that carries the integrity signature (see `invoke-signature.ts`). */
export const SIGNATURE_HEADER = 'x-engine-signature'

/** WebSocket subprotocol of the Connect transport. */
export const CONNECT_SUBPROTOCOL = 'engine.connect.v0'
