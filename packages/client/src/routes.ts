// The routes of the operations: `METHOD /path`, then `pages` or `stream` for replies of that kind. They repeat the
// protocol's operations without the schemas, which take a hundred milliseconds to load and which the client does not
// need. A wrong entry does not compile, and a test fails when one is missing.

import type { Operation, Operations } from '@perdure/protocol/operations'

type Route<Op extends Operation> = `${Op['method']} ${Op['path']}${ReplyKind<Op>}`
type ReplyKind<Op extends Operation> = Op['reply'] extends { stream: true }
  ? ' stream'
  : Op['reply'] extends { pages: true }
    ? ' pages'
    : ''

export const ROUTES = {
  listRuns: 'GET /runs pages',
  getRunStats: 'GET /runs/stats',
  listErrors: 'GET /errors',
  getRunSeries: 'GET /runs/series',
  getWorkflowStats: 'GET /workflows/stats',
  getRunFacets: 'GET /runs/facets',
  streamRuns: 'GET /runs/stream stream',
  getRun: 'GET /runs/{id}',
  explainRun: 'GET /runs/{id}/why',
  listRunSteps: 'GET /runs/{id}/steps pages',
  getRunTree: 'GET /runs/{id}/tree',
  getEventTree: 'GET /events/{id}/tree',
  listRunPasses: 'GET /runs/{id}/passes pages',
  getRunStep: 'GET /runs/{id}/steps/{stepId}',
  listRunLogs: 'GET /runs/{id}/logs',
  streamRun: 'GET /runs/{id}/stream stream',
  cancelRun: 'POST /runs/{id}/cancel',
  pauseRun: 'POST /runs/{id}/pause',
  resumeRun: 'POST /runs/{id}/resume',
  replayRun: 'POST /runs/{id}/replay',
  retryRunFromStep: 'POST /runs/{id}/retry-from-step',
  eraseRun: 'DELETE /runs/{id}',
  bulkReplayRuns: 'POST /runs/bulk-replay',
  startBulk: 'POST /bulk',
  listBulks: 'GET /bulk pages',
  getBulk: 'GET /bulk/{id}',
  stopBulk: 'POST /bulk/{id}/stop',
  listControlActions: 'GET /control-actions pages',
  sendEvent: 'POST /events',
  listEvents: 'GET /events pages',
  listEventNames: 'GET /event-names pages',
  streamEvents: 'GET /events/stream stream',
  streamTopics: 'GET /stream stream',
  getEvent: 'GET /events/{id}',
  listScheduledEvents: 'GET /scheduled-events pages',
  deleteScheduledEvent: 'DELETE /scheduled-events/{id}',
  listSchedules: 'GET /schedules pages',
  putSchedule: 'PUT /schedules/{id}',
  deleteSchedule: 'DELETE /schedules/{id}',
  pauseSchedule: 'POST /schedules/{id}/pause',
  resumeSchedule: 'POST /schedules/{id}/resume',
  fireSchedule: 'POST /schedules/{id}/fire',
  register: 'POST /register',
  listApps: 'GET /apps',
  listRunners: 'GET /runners',
  listLimits: 'GET /limits',
  listWorkflows: 'GET /workflows',
  pauseWorkflow: 'POST /workflows/{app}/{name}/pause',
  resumeWorkflow: 'POST /workflows/{app}/{name}/resume',
  listWebhookDeliveries: 'GET /webhook-deliveries pages',
  getWebhookDelivery: 'GET /webhook-deliveries/{id}',
  redeliverWebhook: 'POST /webhook-deliveries/{id}/redeliver',
  listWebhookEndpoints: 'GET /webhook-endpoints',
  getWebhookEndpointStats: 'GET /webhook-endpoints/stats',
  createWebhookEndpoint: 'POST /webhook-endpoints',
  updateWebhookEndpoint: 'PATCH /webhook-endpoints/{id}',
  deleteWebhookEndpoint: 'DELETE /webhook-endpoints/{id}',
  listWebhookReceivers: 'GET /webhook-receivers',
  createWebhookReceiver: 'POST /webhook-receivers',
  updateWebhookReceiver: 'PATCH /webhook-receivers/{id}',
  deleteWebhookReceiver: 'DELETE /webhook-receivers/{id}',
  receiveWebhook: 'POST /webhooks/{slug}',
  whoami: 'GET /whoami',
  openSession: 'POST /session',
  endSession: 'DELETE /session',
  makeSessionCode: 'POST /session/codes',
  listApiKeys: 'GET /keys pages',
  createApiKey: 'POST /keys',
  revokeApiKey: 'DELETE /keys/{id}',
  getHealth: 'GET /healthz',
  getReadiness: 'GET /readyz',
  getOpenapi: 'GET /openapi.json',
} as const satisfies { readonly [Id in keyof Operations]?: Route<Operations[Id]> }

/** The operations that the client has a method for: all except the WebSocket of runners and the metrics. */
export type OperationId = keyof typeof ROUTES
