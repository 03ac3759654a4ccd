// An event that did not wake a run, because the comparison with the run's wait failed. For `run-why.ts`.

import { cutText } from '@perdure/protocol'

/** An event that could not be compared with a wait. */
export interface WaitFault {
  eventId: string
  expression: string
  error: string
}

/** Maximum length of an expression that is shown. */
const EXPRESSION_CHARS_MAX = 200

/** States why an event that came did not wake the run. */
export function faultText(waitFault: WaitFault | undefined): string {
  if (!waitFault) return ''
  const { eventId, expression, error } = waitFault
  const named = cutText(expression, EXPRESSION_CHARS_MAX, '…')
  return ` Its expression "${named}" could not be evaluated for event ${eventId}, so the event did not wake the run: ${error.replace(/\.$/, '')}.`
}
