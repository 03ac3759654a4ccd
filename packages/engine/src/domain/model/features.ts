// The optional parts of the wire protocol that this engine knows. Registrations, handshakes and invokes name them, and runners
// use only the named ones (docs/wire-protocol.md#features).

import {
  ANOTHER_PASS_FEATURE,
  ATTRIBUTES_FEATURE,
  BATCH_EVENTS_FEATURE,
  BEATS_FEATURE,
  BUDGETS_FEATURE,
  CALLBACKS_FEATURE,
  CLEANUP_FEATURE,
  CONTINUE_AS_FEATURE,
  END_WITH_STEPS_FEATURE,
  HTTP_CHECKPOINTS_FEATURE,
  INVOKE_TIMEOUT_FEATURE,
  MARKED_ANSWERS_FEATURE,
  MEMO_ATTEMPT_FEATURE,
  MEMO_OP_FEATURE,
  RUNNING_STEPS_FEATURE,
  recipientOf,
  SCHEMAS_FEATURE,
  SIGNALS_FEATURE,
  SIGNATURE_FEATURE,
  START_RUN_FEATURE,
  STEP_LIMITS_FEATURE,
  STEP_POLICY_FEATURE,
  STEP_TIMES_FEATURE,
  STREAMS_FEATURE,
  WAIT_FOR_RUN_FEATURE,
  WAIT_ORDER_FEATURE,
} from '@perdure/protocol'
import type { JsonText } from '../text/json-text.ts'
import type { Runner } from './workflow.ts'

export const ENGINE_FEATURES: readonly string[] = [
  SIGNATURE_FEATURE,
  STEP_POLICY_FEATURE,
  MEMO_OP_FEATURE,
  MEMO_ATTEMPT_FEATURE,
  INVOKE_TIMEOUT_FEATURE,
  STEP_TIMES_FEATURE,
  ATTRIBUTES_FEATURE,
  END_WITH_STEPS_FEATURE,
  HTTP_CHECKPOINTS_FEATURE,
  MARKED_ANSWERS_FEATURE,
  BEATS_FEATURE,
  RUNNING_STEPS_FEATURE,
  WAIT_ORDER_FEATURE,
  ANOTHER_PASS_FEATURE,
  CALLBACKS_FEATURE,
  CONTINUE_AS_FEATURE,
  SCHEMAS_FEATURE,
  CLEANUP_FEATURE,
  WAIT_FOR_RUN_FEATURE,
  START_RUN_FEATURE,
  BUDGETS_FEATURE,
  SIGNALS_FEATURE,
  BATCH_EVENTS_FEATURE,
  STEP_LIMITS_FEATURE,
  STREAMS_FEATURE,
]

const ALL = JSON.stringify(ENGINE_FEATURES)
const WITHOUT_END_WITH_STEPS = JSON.stringify(ENGINE_FEATURES.filter(feature => feature !== END_WITH_STEPS_FEATURE))

/**
 * The list of features that an invoke names. If a runner does not name `end-with-steps` in its newest registration, the invoke
 * does not name it either: several processes of two versions may be behind one URL, and ignored steps in a 200 would be lost.
 */
export function featuresOfInvoke({ endWithSteps }: { endWithSteps: boolean }): JsonText {
  return endWithSteps ? ALL : WITHOUT_END_WITH_STEPS
}

/** Whether the runner named the feature. */
export function knows({ features }: Pick<Runner, 'features'>, feature: string): boolean {
  return features?.includes(feature) ?? false
}

/** The key works because each registration is a separate object and is not changed. */
const recipients = new WeakMap<Runner, string>()

/** The recipient that invokes to the runner are signed for; undefined for a runner that did not negotiate such signatures. */
export function signedRecipient(runner: Runner): string | undefined {
  if (!knows(runner, SIGNATURE_FEATURE)) return undefined
  let recipient = recipients.get(runner)
  if (recipient === undefined) {
    recipient = recipientOf(runner.app, runner.runnerId)
    recipients.set(runner, recipient)
  }
  return recipient
}
