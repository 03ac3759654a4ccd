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

/** The feature of `invokeTimeoutMs` in the context of an invoke (`docs/wire-protocol.md#the-time-of-an-invoke`). */
export const INVOKE_TIMEOUT_FEATURE = 'invoke-timeout'

/** The feature of `stepAttempts` in the context of an invoke (`docs/wire-protocol.md#attempts-of-steps`). */
export const MEMO_ATTEMPT_FEATURE = 'memo-attempt'

/** The feature of `attributes` in answers and checkpoints (`docs/wire-protocol.md#attributes`). */
export const ATTRIBUTES_FEATURE = 'attributes'

/** The feature of `opcodes` in a 200 (`docs/wire-protocol.md#end-with-steps`). */
export const END_WITH_STEPS_FEATURE = 'end-with-steps'

/** The feature of checkpoints over HTTP (`docs/wire-protocol.md#checkpoints-over-http`). */
export const HTTP_CHECKPOINTS_FEATURE = 'http-checkpoints'

/** The feature of heartbeats outside the socket of a runner (`docs/wire-protocol.md#a-blocked-event-loop`). */
export const BEATS_FEATURE = 'beats'

/** Header of such a heartbeat: the instances of the runner's sockets, separated by commas. */
export const BEATS_HEADER = 'x-engine-beats'

/** The feature of `running` in checkpoints (`docs/wire-protocol.md#running-steps`). */
export const RUNNING_STEPS_FEATURE = 'running-steps'

/** The feature of `given` and `since` in a WaitForEvent (`docs/wire-protocol.md#waits`). */
export const WAIT_ORDER_FEATURE = 'wait-order'

/** The feature of WaitForCallback, and of `callbackUrl` and `callbackKey` (`docs/wire-protocol.md#callbacks`). */
export const CALLBACKS_FEATURE = 'callbacks'

/** The feature of WaitForRun (`docs/wire-protocol.md#waiting-for-runs`). */
export const WAIT_FOR_RUN_FEATURE = 'wait-for-run'

/** The feature of StartRun, CancelRun and the newer members of RunWorkflow and Emit (`docs/wire-protocol.md#starting-runs`). */
export const START_RUN_FEATURE = 'start-run'

/** The feature of `events` in the event of an invoke (`docs/wire-protocol.md#batches`). */
export const BATCH_EVENTS_FEATURE = 'batch-events'

/** The feature of `continueAs` in a 200 (`docs/wire-protocol.md#continue-as`). */
export const CONTINUE_AS_FEATURE = 'continue-as'

/** The feature of `rollback` in a StepRun, of `cleanup` in a registration, and of runs of that kind (`docs/wire-protocol.md#features`). */
export const CLEANUP_FEATURE = 'cleanup'

/** The feature of `spent` in a StepRun (`docs/wire-protocol.md#budgets`). */
export const BUDGETS_FEATURE = 'budgets'

/**
 * The feature of `input`, `description` and `tool` in a registration (`docs/wire-protocol.md#register`). A runner does not have
 * to name it.
 */
export const SCHEMAS_FEATURE = 'schemas'

/** The feature of WaitForSignal, of ReplyToUpdate and of `given` in `continueAs` (`docs/wire-protocol.md#signals`). */
export const SIGNALS_FEATURE = 'signals'

/** The feature of StepLimit, of `limits` in a registration and of `turns` in an invoke (`docs/wire-protocol.md#step-limits`). */
export const STEP_LIMITS_FEATURE = 'step-limits'

/** The feature of appends to output streams (`docs/wire-protocol.md#output-streams`). */
export const STREAMS_FEATURE = 'streams'

/** The feature of a runner that requests another pass of a run (`docs/wire-protocol.md#another-pass`). */
export const ANOTHER_PASS_FEATURE = 'another-pass'

/** Header of such a heartbeat: the step that began last, percent-encoded. */
export const BEATS_STEP_HEADER = 'x-engine-beats-step'

/** The feature of answers that identify their sender (`docs/wire-protocol.md#marked-answers`). */
export const MARKED_ANSWERS_FEATURE = 'marked-answers'

/** Header of every answer of a runner over HTTP that names the feature: a gateway in front of the runner does not send it. */
export const RUNNER_HEADER = 'x-perdure-runner'

/** The value of {@link RUNNER_HEADER}. */
export const RUNNER_MARK = '1'

/** The `code` in the error of a 4xx or 5xx: the runner does not recognise the caller as its engine, so it has run nothing. */
export const ENGINE_REFUSED = 'engine_refused'

/** WebSocket subprotocol of the Connect transport. */
export const CONNECT_SUBPROTOCOL = 'engine.connect.v0'
