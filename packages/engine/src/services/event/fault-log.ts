// Logs expressions that could not be evaluated, once per trigger (or wait) and minute (docs/events.md#expressions). Also logs
// unreadable log lines of runners and long chains of runs, once per workflow and minute.

import type { Logger } from 'pino'
import type { PassReport } from '../../domain/pass/opcodes/context.ts'
import type { Clock } from '../../ports/clock.ts'
import { OncePerMinute } from '../support/once-per-minute.ts'

/** Makes a receiver of faults that writes them to the log. */
export function faultLog(clock: Clock, log: Logger): PassReport {
  const oncePerFault = new OncePerMinute(clock)
  return fault => {
    if (!oncePerFault.isDue(keyOf(fault))) return
    const { of, ...what } = fault
    log.warn({ ...of, ...what }, messageOf(fault))
  }
}

type Fault = Parameters<PassReport>[0]

function messageOf(fault: Fault): string {
  if ('generation' in fault) return LONG_CHAIN
  if ('unread' in fault) return UNREAD_LINES
  return fault.policy === undefined ? NOT_EVALUATED : DOES_NOT_APPLY
}

const DOES_NOT_APPLY = 'the key of a policy could not be evaluated: the policy did not apply to the event'
const NOT_EVALUATED = 'an expression could not be evaluated: a filter did not match, a key counts as empty'
const LONG_CHAIN = 'runs start each other in a long chain, as children or by emitted events: make sure that it ends'
const UNREAD_LINES = 'log lines of a runner could not be read: they are not stored'

function keyOf(fault: Fault): string {
  return JSON.stringify([...Object.values(fault.of), ...('filter' in fault ? [fault.filter, fault.policy] : [])])
}
