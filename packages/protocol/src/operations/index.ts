// Every operation of the HTTP API, by id.

import * as control from './control.ts'
import * as events from './events.ts'
import * as health from './health.ts'
import * as meta from './meta.ts'
import type { Operation } from './operation.ts'
import * as registry from './registry.ts'
import * as runs from './runs.ts'
import * as webhooks from './webhooks.ts'

export { errorsOf } from './errors.ts'
export type * from './operation.ts'

export const operations = {
  listRuns: runs.listRuns,
  getRunStats: runs.getRunStats,
  streamRuns: runs.streamRuns,
  getRun: runs.getRun,
  explainRun: runs.explainRun,
  listRunSteps: runs.listRunSteps,
  listRunLogs: runs.listRunLogs,
  streamRun: runs.streamRun,
  cancelRun: control.cancelRun,
  pauseRun: control.pauseRun,
  resumeRun: control.resumeRun,
  replayRun: control.replayRun,
  retryRunFromStep: control.retryRunFromStep,
  bulkReplayRuns: control.bulkReplayRuns,
  listControlActions: control.listControlActions,
  sendEvent: events.sendEvent,
  listEvents: events.listEvents,
  streamEvents: events.streamEvents,
  getEvent: events.getEvent,
  register: registry.register,
  connect: registry.connect,
  listApps: registry.listApps,
  listRunners: registry.listRunners,
  listWorkflows: registry.listWorkflows,
  listWebhookDeliveries: webhooks.listWebhookDeliveries,
  getWebhookDelivery: webhooks.getWebhookDelivery,
  redeliverWebhook: webhooks.redeliverWebhook,
  listWebhookEndpoints: webhooks.listWebhookEndpoints,
  getWebhookEndpointStats: webhooks.getWebhookEndpointStats,
  createWebhookEndpoint: webhooks.createWebhookEndpoint,
  updateWebhookEndpoint: webhooks.updateWebhookEndpoint,
  deleteWebhookEndpoint: webhooks.deleteWebhookEndpoint,
  listWebhookReceivers: webhooks.listWebhookReceivers,
  createWebhookReceiver: webhooks.createWebhookReceiver,
  updateWebhookReceiver: webhooks.updateWebhookReceiver,
  deleteWebhookReceiver: webhooks.deleteWebhookReceiver,
  receiveWebhook: webhooks.receiveWebhook,
  getHealth: health.getHealth,
  getReadiness: health.getReadiness,
  getMetrics: health.getMetrics,
  getOpenapi: meta.getOpenapi,
} as const satisfies Record<string, Operation>

export type Operations = typeof operations
