// How access.test.ts requests each operation from a namespace that does not own the objects in the request.

/** Things of the namespace `north`. Every name contains the namespace's name; nothing listens on `http://127.0.0.1:9/`. */
export const APP = 'north-app'
export const RUNNER = 'north-runner'
export const WORKFLOW = 'north-order'
export const WAITER = 'north-waiter'
export const ANSWERING = 'north-answering'
export const BROKEN = 'north-broken'
export const BATCHED = 'north-batched'
export const AWAITED = 'north-awaited'
export const PAYLOAD = 'north-payload'
const NOWHERE = 'http://127.0.0.1:9/'

/** Ids of objects of the namespace `north`. */
export interface Holdings {
  run: string
  fork: string
  waiting: string
  /** Run and update. */
  update: string
  paused: string
  event: string
  delivery: string
  endpoint: string
  receiver: string
  key: string
  scheduled: string
  schedule: string
  bulk: string
  buffer: string
  app: string
  /** App and name. */
  workflow: string
  erasable: string
  view: string
  /** A fingerprint. */
  error: string
}

export interface Entry {
  /** The id for the path's placeholder. From another namespace the answer is 404. */
  id?: keyof Holdings
  /** The operation is a list: queries that find something here, and nothing from another namespace. */
  finds?: (held: Holdings) => string[]
  /** Parameters that the operation needs. */
  query?: string
  /** The operation requires any one of its parameters. */
  takesAnyParameter?: true
  /** A valid body. */
  body?: unknown
  /** The minimum fields of the answer to another namespace. */
  elsewhere?: object
  /** A stream of a whole namespace, which has a separate test. */
  stream?: true
  /** A WebSocket, tested in connect/handshake.test.ts. */
  socket?: true
  /** Belongs to no namespace, or is tested in a separate file. */
  common?: true
  /** Another status that shows that the key opens the operation. */
  letIn?: number
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
      'sort=app',
      'sort=duration&dir=asc',
    ],
  },
  getRunStats: { elsewhere: { total: 0, active: 0, succeeded: 0, failed: 0, successRate: 100, failedRate: 0 } },
  getRunSeries: { elsewhere: Array(24).fill({ started: 0, succeeded: 0, failed: 0, cancelled: 0 }) },
  getWorkflowStats: { finds: () => ['', `app=${APP}`] },
  getRunFacets: { elsewhere: { app: [], workflow: [], status: { succeeded: 0, failed: 0, waiting: 0 } } },
  listErrors: { finds: () => ['', `app=${APP}`] },
  listViews: { finds: () => [''] },
  // Another namespace makes its own view with the same id.
  putView: { common: true, body: { name: 'north', query: '' } },
  deleteView: { id: 'view' },
  setErrorState: { id: 'error', body: { state: 'ignored' } },
  streamRuns: { stream: true },
  getRun: { id: 'run' },
  getRunResult: { id: 'run' },
  explainRun: { id: 'waiting' },
  listRunSteps: { id: 'run' },
  getRunStep: { id: 'run' },
  getRunTree: { id: 'run' },
  getRunBundle: { id: 'run' },
  getEventTree: { id: 'event' },
  listRunPasses: { id: 'run' },
  listRunLogs: { id: 'run' },
  listRunStreams: { id: 'run' },
  readRunStream: { id: 'waiting' },
  streamRun: { id: 'run' },
  cancelRun: { id: 'waiting' },
  pauseRun: { id: 'waiting' },
  resumeRun: { id: 'paused' },
  replayRun: { id: 'run' },
  retryRunFromStep: { id: 'run', body: { step: 'work' } },
  settleStep: { id: 'waiting', body: { data: 1, reason: 'test' }, letIn: 404 },
  signalRun: { id: 'waiting' },
  updateRun: { id: 'waiting' },
  getRunUpdate: { id: 'update' },
  listRunSignals: { id: 'run' },
  setRunBudget: { id: 'waiting', body: { usd: 1 }, letIn: 409 },
  createRunToken: { id: 'waiting' },
  eraseRun: { id: 'erasable' },
  bulkReplayRuns: { body: { app: APP }, elsewhere: { matched: 0, replayed: 0, skipped: 0 } },
  startBulk: { body: { action: 'cancel', filter: { app: APP } }, elsewhere: {} },
  listBulks: { finds: () => [''] },
  getBulk: { id: 'bulk' },
  stopBulk: { id: 'bulk' },
  // Its namespace is `default`.
  releaseEngine: { common: true, letIn: 403 },
  listControlActions: { finds: ({ run, fork }) => ['', `runId=${run}`, `runId=${fork}`, 'action=replay'] },
  sendEvent: { body: { name: AWAITED }, elsewhere: { woke: 0, triggered: [] } },
  sendEvents: { body: [{ name: AWAITED }], elsewhere: [{ woke: 0, triggered: [] }] },
  redriveEvent: { id: 'event', body: { workflow: WORKFLOW, app: APP } },
  // Another namespace has no such workflow.
  redriveEvents: {
    common: true,
    body: { name: WORKFLOW, since: '2024-01-01T00:00:00Z', workflow: WORKFLOW, app: APP },
    letIn: 404,
  },
  listEvents: { finds: () => ['', `name=${WORKFLOW}`] },
  listEventNames: { finds: () => ['', `prefix=${WORKFLOW}`] },
  streamEvents: { stream: true },
  streamTopics: { stream: true, query: 'topics=runs,events' },
  getEvent: { id: 'event' },
  explainEvent: { id: 'event' },
  listScheduledEvents: { finds: () => ['', `name=${WORKFLOW}`] },
  deleteScheduledEvents: { query: 'name=nothing', takesAnyParameter: true, elsewhere: { deleted: 0 } },
  deleteScheduledEvent: { id: 'scheduled' },
  listSchedules: { finds: () => ['', 'source=api'] },
  // Another namespace makes its own schedule with the same id.
  putSchedule: { common: true, body: { every: '1h', event: { name: WORKFLOW } } },
  deleteSchedule: { id: 'schedule' },
  pauseSchedule: { id: 'schedule' },
  resumeSchedule: { id: 'schedule' },
  fireSchedule: { id: 'schedule' },
  register: { body: { app: APP, runner: RUNNER, url: NOWHERE, workflows: [] }, elsewhere: { ok: true } },
  connect: { socket: true },
  listApps: { finds: () => [''] },
  listRunners: { finds: () => ['', `app=${APP}`] },
  listLimits: { finds: () => [] },
  listBuffers: { finds: () => ['', 'kind=batch'] },
  flushBuffer: { id: 'buffer' },
  listDefinitions: { id: 'workflow' },
  listWorkflows: { finds: () => ['', `app=${APP}`] },
  startRun: { id: 'workflow' },
  pauseWorkflow: { id: 'workflow' },
  resumeWorkflow: { id: 'workflow' },
  setWorkflowLimits: { id: 'workflow', body: {} },
  removeWorkflowLimits: { id: 'workflow' },
  deleteWorkflow: { id: 'workflow' },
  deleteApp: { id: 'app' },
  getHealth: { common: true },
  getReadiness: { common: true },
  getMetrics: { common: true },
  // Engines belong to all namespaces.
  listEngines: { common: true },
  getOpenapi: { common: true },
  listWebhookDeliveries: { finds: () => ['', `app=${APP}`, 'status=succeeded'] },
  getWebhookDeliveryFacets: { elsewhere: { status: { succeeded: 0, pending: 0, exhausted: 0 } } },
  getWebhookDelivery: { id: 'delivery' },
  redeliverWebhook: { id: 'delivery' },
  redeliverWebhooks: {
    body: { filter: { app: APP } },
    elsewhere: { matched: 0, queued: 0, skipped: 0, capped: false },
  },
  listWebhookEndpoints: { finds: () => [''] },
  getWebhookEndpointStats: { finds: () => [''] },
  getWebhookEndpointSeries: { elsewhere: Array(24).fill({ succeeded: 0, failed: 0 }) },
  testWebhookEndpoint: { id: 'endpoint' },
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
  listWebhookRefusals: { id: 'receiver' },
  receiveWebhook: { common: true },
  // Tested in event/callbacks.test.ts: the token names the namespace.
  completeCallback: { common: true },
  whoami: { elsewhere: { namespace: 'south' } },
  // Tested in sessions.test.ts: the key in the body decides the namespace.
  openSession: { common: true, body: { key: 'unknown-key-of-nobody' }, letIn: 401 },
  endSession: { common: true, letIn: 409 },
  makeSessionCode: { common: true },
  listApiKeys: { common: true },
  createApiKey: { body: { kind: 'read' }, elsewhere: { kind: 'read' } },
  revokeApiKey: { id: 'key' },
}
