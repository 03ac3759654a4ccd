// The optional parts of the wire protocol that this engine knows. Registrations, handshakes and invokes name them, and runners
// use only what is named (docs/wire-protocol.md#features).

import { recipientOf, SIGNATURE_FEATURE } from '@perdure/protocol'
import type { Runner } from './workflow.ts'

export const ENGINE_FEATURES: readonly string[] = [SIGNATURE_FEATURE]

/** A registration is an object of its own, and is not changed. */
const recipients = new WeakMap<Runner, string>()

/** The recipient that invokes of the runner are signed for; undefined for a runner that did not negotiate such signatures. */
export function signedRecipient(runner: Runner): string | undefined {
  if (!runner.features?.includes(SIGNATURE_FEATURE)) return undefined
  let recipient = recipients.get(runner)
  if (recipient === undefined) {
    recipient = recipientOf(runner.app, runner.runnerId)
    recipients.set(runner, recipient)
  }
  return recipient
}
