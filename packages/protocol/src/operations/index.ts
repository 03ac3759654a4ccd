// Every operation of the HTTP API, by group and by id.

import { admin } from './admin.ts'
import { bulk } from './bulk.ts'
import { control } from './control.ts'
import { events } from './events.ts'
import { health, meta } from './health.ts'
import type { Operation } from './operation.ts'
import { registry } from './registry.ts'
import { runSteps } from './run-steps.ts'
import { runs as runLists } from './runs.ts'
import { schedules } from './schedules.ts'
import { statistics } from './statistics.ts'
import { runStreams } from './streams.ts'
import { trees } from './trees.ts'
import { deliveries } from './webhook-deliveries.ts'
import { endpoints } from './webhook-endpoints.ts'
import { receivers } from './webhook-receivers.ts'

export type { ParamValue, QueryParam, QueryParams, QueryValues } from '../queries/param.ts'
export { CURSOR_PARAM, ID_CHARS_MAX, RUN_TOKEN_MS } from '../queries/param.ts'
export { STREAM_TOPICS } from '../queries/runs.ts'
export { errorsOf } from './errors.ts'
export type * from './operation.ts'

const runs = { ...runLists, ...runSteps, ...runStreams, ...trees }
const webhooks = { ...deliveries, ...endpoints, ...receivers }

const groups = {
  runs: { ...runs, ...statistics },
  control,
  bulk,
  events,
  schedules,
  registry,
  webhooks,
  admin,
  health,
  meta,
}
export type Group = keyof typeof groups

/** Every operation by its id, which is its name in the client and in the OpenAPI document. */
export const operations = {
  ...runs,
  ...statistics,
  ...control,
  ...bulk,
  ...events,
  ...schedules,
  ...registry,
  ...webhooks,
  ...admin,
  ...health,
  ...meta,
}
export type Operations = typeof operations

export interface ListedOperation extends Operation {
  readonly id: string
  readonly group: Group
}

/** Every operation, for code that treats all of them alike. */
export const operationList: readonly ListedOperation[] = Object.entries(groups).flatMap(([group, members]) =>
  Object.entries<Operation>(members).map(([id, operation]) => ({ ...operation, id, group: group as Group })),
)
