// The features that this engine names in invokes, and the ones that a runner named (docs/wire-protocol.md#features).

import { FEATURES, knows, recipientOf } from '@perdure/protocol'
import type { JsonText } from '../text/json-text.ts'
import type { Runner } from './workflow.ts'

const ALL = JSON.stringify(FEATURES)
const WITHOUT_END_WITH_STEPS = JSON.stringify(FEATURES.filter(feature => feature !== 'end-with-steps'))

/**
 * The list of features that an invoke names. If a runner does not name `end-with-steps` in its newest registration, the invoke
 * does not name it either: several processes of two versions may be behind one URL, and ignored steps in a 200 would be lost.
 */
export function featuresOfInvoke({ endWithSteps }: { endWithSteps: boolean }): JsonText {
  return endWithSteps ? ALL : WITHOUT_END_WITH_STEPS
}

/** The key works because each registration is a separate object and is not changed. */
const recipients = new WeakMap<Runner, string>()

/** The recipient that invokes to the runner are signed for; undefined for a runner that did not negotiate such signatures. */
export function signedRecipient(runner: Runner): string | undefined {
  if (!knows(runner.features, 'signature-v2')) return undefined
  let recipient = recipients.get(runner)
  if (recipient === undefined) {
    recipient = recipientOf(runner.app, runner.runnerId)
    recipients.set(runner, recipient)
  }
  return recipient
}
