// Every table of a store. Both dialects create their schema from this list.

import type { TableSchema } from '../description/table.ts'
import { ADMIN_REVISION, API_KEYS, NAMESPACES } from './admin.ts'
import { CATALOG_REVISION, CLUSTER, LAST_MOVE, PROBES, PRUNE_MARKS, SEALING, TOKEN_KEY } from './bookkeeping.ts'
import { BULK_RESULTS } from './bulk-results.ts'
import { CONTROL_ACTIONS } from './control-actions.ts'
import { ATTEMPTS, DELIVERIES } from './deliveries.ts'
import { DOCUMENTS } from './document/documents.ts'
import { REMOVED_ENDS, ROLLUP_MARKS, RUN_ROLLUPS } from './ended-runs.ts'
import { ENDPOINT_ROLLUPS } from './endpoint-rollups.ts'
import { ERASED_RUNS } from './erased-runs.ts'
import { DEDUPES, DELIVERED_EVENTS, EVENTS } from './events.ts'
import { BUDGETS, FAIR_TURNS, FLOW_ROWS, LIMIT_TURNS, SCHEDULED_TERMS } from './flow-rows.ts'
import { FRAMES } from './frames.ts'
import { GIVEN_RUN_IDS } from './given-run-ids.ts'
import { LOGS } from './logs.ts'
import { PAYLOADS } from './payloads.ts'
import { APPS, KEPT_PAUSES, RUNNERS, STEP_LIMITS, WORKFLOWS } from './registry.ts'
import { RUN_ATTRIBUTES, RUN_WATCHES, RUNS } from './runs.ts'
import { STEPS } from './steps.ts'
import { STREAM_ROWS, STREAMS } from './streams/streams.ts'
import { ENDPOINTS, RECEIVERS } from './webhooks.ts'
import { WORKFLOW_DEFINITIONS } from './workflow-definitions.ts'

export const TABLES: readonly TableSchema[] = [
  RUNS,
  RUN_WATCHES,
  RUN_ATTRIBUTES,
  BUDGETS,
  STEPS,
  FRAMES,
  LOGS,
  STREAMS,
  STREAM_ROWS,
  EVENTS,
  DELIVERED_EVENTS,
  DEDUPES,
  DELIVERIES,
  ATTEMPTS,
  FLOW_ROWS,
  SCHEDULED_TERMS,
  FAIR_TURNS,
  LIMIT_TURNS,
  ENDPOINTS,
  RECEIVERS,
  PAYLOADS,
  APPS,
  STEP_LIMITS,
  RUNNERS,
  WORKFLOWS,
  KEPT_PAUSES,
  WORKFLOW_DEFINITIONS,
  CONTROL_ACTIONS,
  DOCUMENTS,
  BULK_RESULTS,
  ERASED_RUNS,
  GIVEN_RUN_IDS,
  API_KEYS,
  NAMESPACES,
  ADMIN_REVISION,
  CATALOG_REVISION,
  CLUSTER,
  TOKEN_KEY,
  PROBES,
  PRUNE_MARKS,
  SEALING,
  RUN_ROLLUPS,
  ROLLUP_MARKS,
  REMOVED_ENDS,
  ENDPOINT_ROLLUPS,
  LAST_MOVE,
]
