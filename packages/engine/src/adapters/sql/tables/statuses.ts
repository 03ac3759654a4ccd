// Sets of statuses as SQL lists.

import type { RunStatus } from '@perdure/protocol'

const list = (...statuses: RunStatus[]) => `(${statuses.map(status => `'${status}'`).join(', ')})`

/** Statuses that never change: of an ended run, and of a settled step. */
export const FINAL_STATUSES = list('succeeded', 'failed', 'cancelled')

/** Statuses of a run that has not ended. */
export const LIVE_STATUS_LIST = ['queued', 'running', 'waiting', 'paused'] as const satisfies RunStatus[]
export const LIVE_STATUSES = list(...LIVE_STATUS_LIST)
