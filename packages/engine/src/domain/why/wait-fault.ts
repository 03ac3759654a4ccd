// An event that came and did not wake a run, because its wait could not be compared with it. For `run-why.ts`.

import { cutText } from '@perdure/protocol'

/** An event that a wait could not be compared with. */
export interface WaitFault {
  eventId: string
  expression: string
  error: string
}

/** More of an expression is not shown. */
const EXPRESSION_CHARS_MAX = 200

/** Says why an event that came did not wake the run. */
export function faultText(waitFault: WaitFault | undefined): string {
  if (!waitFault) return ''
  const { eventId, expression, error } = waitFault
  const named = cutText(expression, EXPRESSION_CHARS_MAX, '…')
  return ` Its expression "${named}" could not be evaluated for event ${eventId}, so the event did not wake the run: ${error.replace(/\.$/, '')}.`
}
