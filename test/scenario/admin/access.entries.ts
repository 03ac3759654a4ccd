// What each operation of the interface is about, for access.test.ts: which of one namespace's things to ask it for
// from another.

/** Things of the north: every name contains its namespace's, `http://127.0.0.1:9/` is an address nobody answers. */
export const APP = 'north-app'
export const RUNNER = 'north-runner'
export const WORKFLOW = 'north-order'
export const WAITER = 'north-waiter'
export const AWAITED = 'north-awaited'
export const PAYLOAD = 'north-payload'
const NOWHERE = 'http://127.0.0.1:9/'

/** Ids of what the north holds. */
export interface Holdings {
  run: string
  fork: string
  waiting: string
  paused: string
  event: string
  delivery: string
  endpoint: string
  receiver: string
}

export interface Entry {
  /** What the placeholder of the path takes: from elsewhere it is 404. */
  id?: keyof Holdings
  /** A list. Queries that find something here, and nothing from elsewhere. */
  finds?: (held: Holdings) => string[]
  /** A body that is in order. */
  body?: unknown
  /** What the answer elsewhere says, at least. */
  elsewhere?: Record<string, unknown>
  /** A stream of a whole namespace: has a test of its own. */
  stream?: true
  /** A WebSocket: connect-handshake.test.ts. */
  socket?: true
  /** Belongs to no namespace. */
  common?: true
}

export const ENTRIES: Record<string, Entry> = {
  listRuns: {
    finds: ({ run, fork, event }) => [
      '',
      `app=${APP}`,
      `eventId=${event}`,
      `replayOf=${run}`,
      `q=${fork}`,
      `q=${PAYLOAD}&deep=1`,
      'status=succeeded',
      'runType=event',
    ],
  },
  getRunStats: { elsewhere: { total: 0, active: 0, succeeded: 0, failed: 0, successRate: 100 } },
  streamRuns: { stream: true },
  getRun: { id: 'run' },
  explainRun: { id: 'waiting' },
  listRunSteps: { id: 'run' },
  listRunLogs: { id: 'run' },
  streamRun: { id: 'run' },
  cancelRun: { id: 'waiting' },
  pauseRun: { id: 'waiting' },
  resumeRun: { id: 'paused' },
  replayRun: { id: 'run' },
  retryRunFromStep: { id: 'run', body: { step: 'work' } },
  bulkReplayRuns: { body: { app: APP }, elsewhere: { matched: 0, replayed: 0, skipped: 0 } },
  listControlActions: { finds: ({ run, fork }) => ['', `runId=${run}`, `runId=${fork}`, 'action=replay'] },
  sendEvent: { body: { name: AWAITED }, elsewhere: { woke: 0, triggered: [] } },
  listEvents: { finds: () => ['', `name=${WORKFLOW}`] },
  streamEvents: { stream: true },
  getEvent: { id: 'event' },
  register: { body: { app: APP, runner: RUNNER, url: NOWHERE, workflows: [] }, elsewhere: { ok: true } },
  connect: { socket: true },
  listApps: { finds: () => [''] },
  listRunners: { finds: () => ['', `app=${APP}`] },
  listWorkflows: { finds: () => ['', `app=${APP}`] },
  getHealth: { common: true },
  getReadiness: { common: true },
  getMetrics: { common: true },
  getOpenapi: { common: true },
  listWebhookDeliveries: { finds: () => ['', `app=${APP}`, 'status=succeeded'] },
  getWebhookDelivery: { id: 'delivery' },
  redeliverWebhook: { id: 'delivery' },
  listWebhookEndpoints: { finds: () => [''] },
  getWebhookEndpointStats: { finds: () => [''] },
  createWebhookEndpoint: {
    body: { url: NOWHERE, eventKinds: ['run.failed'] },
    elsewhere: { eventKinds: ['run.failed'] },
  },
  updateWebhookEndpoint: { id: 'endpoint', body: { enabled: false } },
  deleteWebhookEndpoint: { id: 'endpoint' },
  listWebhookReceivers: { finds: () => [''] },
  createWebhookReceiver: { body: { eventName: AWAITED }, elsewhere: { eventName: AWAITED } },
  updateWebhookReceiver: { id: 'receiver', body: { enabled: false } },
  deleteWebhookReceiver: { id: 'receiver' },
  receiveWebhook: { common: true },
}
