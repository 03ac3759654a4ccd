// The optional parts of the wire protocol. Engine and runner name those that they know in registrations, handshakes and invokes,
// and use only those that the other has named (docs/wire-protocol.md#features).

/** The names, in the order in which the engine sends them. Each is described in a part of docs/wire-protocol.md. */
export const FEATURES = [
  // Signatures cover purpose and recipient (#check-the-signature).
  'signature-v2',
  // `retry` in a failed StepRun (#opcodes).
  'step-policy',
  // `op` in memo entries (#the-memo).
  'memo-op',
  // `stepAttempts` in the context of an invoke (#attempts-of-steps).
  'memo-attempt',
  // `invokeTimeoutMs` in the context of an invoke (#the-time-of-an-invoke).
  'invoke-timeout',
  // The engine keeps when a step ran, as the runner measured it.
  'step-times',
  // `attributes` in answers and checkpoints (#attributes).
  'attributes',
  // `opcodes` in a 200 (#end-with-steps).
  'end-with-steps',
  // Checkpoints over HTTP (#checkpoints-over-http).
  'http-checkpoints',
  // Answers identify their sender (#marked-answers).
  'marked-answers',
  // Heartbeats outside the socket of a runner (#a-blocked-event-loop).
  'beats',
  // `running` in checkpoints (#running-steps).
  'running-steps',
  // `given` and `since` in a WaitForEvent (#waits).
  'wait-order',
  // A runner requests another pass of a run (#another-pass).
  'another-pass',
  // WaitForCallback, `callbackUrl` and `callbackKey` (#callbacks).
  'callbacks',
  // `continueAs` in a 200 (#continue-as).
  'continue-as',
  // `input`, `description` and `tool` in a registration (#register). A runner does not have to name it.
  'schemas',
  // `rollback` in a StepRun, `cleanup` in a registration, and runs of that kind (#features).
  'cleanup',
  // WaitForRun (#waiting-for-runs).
  'wait-for-run',
  // StartRun, CancelRun and the newer members of RunWorkflow and Emit (#starting-runs).
  'start-run',
  // `spent` in a StepRun (#budgets).
  'budgets',
  // WaitForSignal, ReplyToUpdate, and `given` in `continueAs` (#signals).
  'signals',
  // `events` in the event of an invoke (#batches).
  'batch-events',
  // StepLimit, `limits` in a registration, and `turns` in an invoke (#step-limits).
  'step-limits',
  // Appends to output streams (#output-streams).
  'streams',
] as const

export type Feature = (typeof FEATURES)[number]

/** Whether the features that the peer named include this one. A malformed list includes none. */
export function knows(features: unknown, feature: Feature): boolean {
  return Array.isArray(features) && features.includes(feature)
}
