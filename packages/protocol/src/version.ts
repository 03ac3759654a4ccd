// The wire version and the names that carry it (contract §9). Both peers import it from here.

/** The one integer version the engine and a runner share. A peer that sends none is assumed compatible. */
export const PROTOCOL_VERSION = 1

/** Header of every engine-to-runner HTTP invoke that carries {@link PROTOCOL_VERSION}. */
export const PROTOCOL_HEADER = 'x-engine-protocol'

/** Header of every engine-to-runner request that carries the integrity signature (see `signature.ts`). */
export const SIGNATURE_HEADER = 'x-engine-signature'

/** WebSocket subprotocol of the Connect transport. */
export const CONNECT_SUBPROTOCOL = 'engine.connect.v0'
