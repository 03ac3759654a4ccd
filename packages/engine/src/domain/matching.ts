// Which triggers an event name meets: exactly, or by a trailing `*` (contract §6, "Event matching rules").

import type { Trigger } from './workflow.ts'

/** Whether the name of an event trigger matches an event's name. A cron trigger matches none. */
export function matchesEvent(trigger: Trigger, eventName: string): boolean {
  const { event } = trigger
  if (event === undefined) return false
  return event.endsWith('*') ? eventName.startsWith(event.slice(0, -1)) : event === eventName
}
