// The wire version, and the names of features, headers and subprotocol. Engine and SDK import them.

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

/** The feature of signatures that cover purpose and recipient (`docs/wire-protocol.md#check-the-signature`). */
export const SIGNATURE_FEATURE = 'signature-v2'

/** The engine keeps when a step ran, as the runner measured it. */
export const STEP_TIMES_FEATURE = 'step-times'

/** The feature of `retry` in a failed StepRun (`docs/wire-protocol.md#opcodes`). */
export const STEP_POLICY_FEATURE = 'step-policy'

/** The feature of `op` in memo entries (`docs/wire-protocol.md#the-memo`). */
export const MEMO_OP_FEATURE = 'memo-op'

/** The feature of `attributes` in answers and checkpoints (`docs/wire-protocol.md#attributes`). */
export const ATTRIBUTES_FEATURE = 'attributes'

/** The feature of `opcodes` in a 200 (`docs/wire-protocol.md#end-with-steps`). */
export const END_WITH_STEPS_FEATURE = 'end-with-steps'

/** The feature of checkpoints over HTTP (`docs/wire-protocol.md#checkpoints-over-http`). */
export const HTTP_CHECKPOINTS_FEATURE = 'http-checkpoints'

/** WebSocket subprotocol of the Connect transport. */
export const CONNECT_SUBPROTOCOL = 'engine.connect.v0'
