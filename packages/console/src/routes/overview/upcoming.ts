// The next instants of all schedules, the soonest first. Pure.

import type { Calls } from '@perdure/client'

type Schedule = Calls['listSchedules']['reply'][number]

export interface Fire {
  /** The schedule and the instant. */
  id: string
  name: string
  at: string
}

/** Returns the next instants. A schedule that fires often has several of them. */
export function nextFires(schedules: readonly Pick<Schedule, 'id' | 'workflow' | 'event' | 'next'>[], most: number) {
  return schedules
    .flatMap(({ id, workflow, event, next }) =>
      next.map((at): Fire => ({ id: `${id} ${at}`, name: workflow ?? event?.name ?? id, at })),
    )
    .sort((a, b) => Date.parse(a.at) - Date.parse(b.at))
    .slice(0, most)
}
