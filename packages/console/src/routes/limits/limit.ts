// The limits that runs wait for, from the engine's list.

import type { Calls } from '@perdure/client'

type Listed = Calls['listLimits']['reply'][number]

/** A concurrency limit or a throttle. */
export type Limit = Exclude<Listed, { kind: 'singleton' | 'step' }>

export const isLimit = (listed: Listed): listed is Limit => listed.kind !== 'singleton' && listed.kind !== 'step'

/** Returns how many runs wait; a text such as `10000+` if not all could be counted. */
export const waitingOf = (limit: Limit) => (limit.kind === 'throttle' ? limit.inLine : limit.waiting)
