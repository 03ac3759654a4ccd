// Logs expressions that could not be evaluated, once per trigger (or wait) and minute (docs/events.md#expressions), and
// log lines of runners that could not be read, once per workflow and minute.

import type { Logger } from 'pino'
import type { FilterFault } from '../../domain/expressions/matching.ts'
import type { LinesFault, PassReport } from '../../domain/pass/opcodes/context.ts'
import type { Clock } from '../../ports/clock.ts'
import { OncePerMinute } from '../support/once-per-minute.ts'

/** A receiver of faults that writes them to the log. */
export function faultLog(clock: Clock, log: Logger): PassReport {
  const oncePerFault = new OncePerMinute(clock)
  return fault => {
    if (!oncePerFault.isDue(keyOf(fault))) return
    const { of, ...what } = fault
    log.warn({ ...of, ...what }, messageOf(fault))
  }
}

function messageOf(fault: FilterFault | LinesFault): string {
  if ('unread' in fault) return UNREAD_LINES
  return fault.policy === undefined ? NOT_EVALUATED : DOES_NOT_APPLY
}

const DOES_NOT_APPLY = 'the key of a policy could not be evaluated: the policy did not apply to the event'
const NOT_EVALUATED = 'an expression could not be evaluated: a filter did not match, a key counts as empty'
const UNREAD_LINES = 'log lines of a runner could not be read: they are not stored'

function keyOf(fault: FilterFault | LinesFault): string {
  return JSON.stringify([...Object.values(fault.of), ...('filter' in fault ? [fault.filter, fault.policy] : [])])
}
