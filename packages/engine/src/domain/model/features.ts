// The optional parts of the wire protocol that this engine knows. Registrations, handshakes and invokes name them, and runners
// use only what is named (docs/wire-protocol.md#features).

import {
  ATTRIBUTES_FEATURE,
  MEMO_OP_FEATURE,
  recipientOf,
  SIGNATURE_FEATURE,
  STEP_POLICY_FEATURE,
  STEP_TIMES_FEATURE,
} from '@perdure/protocol'
import type { Runner } from './workflow.ts'

export const ENGINE_FEATURES: readonly string[] = [
  SIGNATURE_FEATURE,
  STEP_POLICY_FEATURE,
  MEMO_OP_FEATURE,
  STEP_TIMES_FEATURE,
  ATTRIBUTES_FEATURE,
]

/** Whether the runner named the feature. */
export function knows({ features }: Pick<Runner, 'features'>, feature: string): boolean {
  return features?.includes(feature) ?? false
}

/** A registration is an object of its own, and is not changed. */
const recipients = new WeakMap<Runner, string>()

/** The recipient that invokes of the runner are signed for; undefined for a runner that did not negotiate such signatures. */
export function signedRecipient(runner: Runner): string | undefined {
  if (!knows(runner, SIGNATURE_FEATURE)) return undefined
  let recipient = recipients.get(runner)
  if (recipient === undefined) {
    recipient = recipientOf(runner.app, runner.runnerId)
    recipients.set(runner, recipient)
  }
  return recipient
}
