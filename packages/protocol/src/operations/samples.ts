// Sample values for the examples of the operations: one order of a shop, from the event to the audit log.

export const SAMPLE_RUN_ID = 'run_01JD8Z5Q4M7V9X2K3N6P8R0T1W'
export const SAMPLE_FORK_ID = 'run_01JD90H2C5E8G1J4M7P0S3V6Y9'
export const SAMPLE_EVENT_ID = 'evt_01JD8Z5Q4K2B5D8F1H4K7N0R3T'

const EVENT_NAME = 'order/placed'
export const SAMPLE_ORDER = { orderId: '4711', total: 4200, currency: 'EUR' } as const

const triggered = { workflow: 'fulfil-order', app: 'shop', runId: SAMPLE_RUN_ID } as const

const identity = {
  id: SAMPLE_RUN_ID,
  workflow: 'fulfil-order',
  app: 'shop',
  triggerKind: 'event',
  eventName: EVENT_NAME,
  eventId: SAMPLE_EVENT_ID,
  attempt: 1,
  createdAt: '2025-03-01T09:00:00.000Z',
  startedAt: '2025-03-01T09:00:00.004Z',
} as const

/** A run that is parked until the event `parcel/left` arrives. */
export const SAMPLE_WAITING = {
  ...identity,
  status: 'waiting',
  currentStepName: 'parcel-left',
  waitingFor: {
    kind: 'event',
    stepName: 'parcel-left',
    eventName: 'parcel/left',
    until: '2025-03-04T09:00:00.120Z',
  },
} as const

export const SAMPLE_EXPLANATION = {
  runId: SAMPLE_RUN_ID,
  status: 'waiting',
  sentence: 'Step "parcel-left" waits for event "parcel/left", at most until 2025-03-04T09:00:00.120Z.',
  since: '2025-03-01T09:00:00.120Z',
  waitingFor: SAMPLE_WAITING.waitingFor,
  wakeAt: '2025-03-04T09:00:00.120Z',
  event: { name: 'parcel/left' },
  runners: { live: 1, stale: 0 },
} as const

export const SAMPLE_PAUSED = { ...SAMPLE_WAITING, status: 'paused' } as const
export const SAMPLE_RESUMED = { ...SAMPLE_WAITING, status: 'queued' } as const
export const SAMPLE_CANCELLED = {
  ...identity,
  status: 'cancelled',
  finishedAt: '2025-03-01T09:10:00.004Z',
  durationMs: 600_000,
} as const

export const SAMPLE_SUCCEEDED = {
  ...identity,
  status: 'succeeded',
  finishedAt: '2025-03-01T09:00:02.504Z',
  durationMs: 2500,
} as const

/** A replay of {@link SAMPLE_RUN}. A fork has no `eventId`. */
export const SAMPLE_FORK = {
  id: SAMPLE_FORK_ID,
  workflow: 'fulfil-order',
  app: 'shop',
  status: 'queued',
  triggerKind: 'event',
  eventName: EVENT_NAME,
  replayOf: SAMPLE_RUN_ID,
  attempt: 1,
  createdAt: '2025-03-01T10:00:00.000Z',
} as const

export const SAMPLE_RUN = {
  ...SAMPLE_SUCCEEDED,
  input: SAMPLE_ORDER,
  result: { parcel: 'DE-77-1093' },
} as const

export const SAMPLE_STEPS = [
  {
    id: '2c2a9ab4f6bb9f3ab8e8f8d8a7a1a1bd1b0d7f6f2a9e4cb5d1a0b7c3e5f60718',
    name: 'charge-card',
    op: 'StepRun',
    index: 0,
    status: 'succeeded',
    attempt: 2,
    startedAt: '2025-03-01T09:00:00.010Z',
    finishedAt: '2025-03-01T09:00:01.350Z',
    durationMs: 1340,
    data: { chargeId: 'ch_82' },
  },
] as const

export const SAMPLE_LOG_LINES = [
  {
    seq: 3,
    ts: '2025-03-01T09:00:01.350Z',
    level: 'info',
    message: 'card charged',
    fields: { amount: 4200, cardNumber: '[REDACTED]' },
    scope: 'charge-card',
    attempt: 2,
  },
] as const

export const SAMPLE_FRAME = {
  kind: 'run_status',
  seq: 1,
  ts: '2025-03-01T09:00:00.000Z',
  runId: SAMPLE_RUN_ID,
  status: 'queued',
} as const

export const SAMPLE_SEND = {
  name: EVENT_NAME,
  data: SAMPLE_ORDER,
  dedupeId: 'order-4711-placed',
} as const

export const SAMPLE_SEND_REPLY = {
  eventId: SAMPLE_EVENT_ID,
  runId: SAMPLE_RUN_ID,
  woke: 0,
  triggered: [triggered],
} as const

export const SAMPLE_DRY_RUN = {
  dryRun: true,
  waiters: 0,
  workflows: [
    {
      workflow: 'fulfil-order',
      app: 'shop',
      trigger: { event: EVENT_NAME },
      matches: true,
      outcome: 'run',
      policies: {},
    },
  ],
} as const

export const SAMPLE_EVENT = {
  id: SAMPLE_EVENT_ID,
  name: EVENT_NAME,
  source: 'api',
  data: SAMPLE_ORDER,
  receivedAt: '2025-03-01T09:00:00.000Z',
  woke: 0,
  triggered: [triggered],
} as const

export const SAMPLE_REGISTRATION = {
  app: 'shop',
  runner: 'shop-1',
  url: 'http://127.0.0.1:3000/invoke',
  runtime: 'node',
  protocolVersion: 1,
  workflows: [{ name: 'fulfil-order', triggers: [{ event: EVENT_NAME }], retry: { maxAttempts: 3 } }],
} as const

export const SAMPLE_WORKFLOW = {
  name: 'fulfil-order',
  app: 'shop',
  retry: { maxAttempts: 3, initialMs: 1000, factor: 2, maxMs: 300_000, jitter: 0.2 },
  triggers: [{ event: EVENT_NAME }],
  scheduled: false,
  schedules: [],
  onFailure: false,
  updatedAt: '2025-03-01T08:59:00.000Z',
} as const
