// Sample values for the examples of the operations: one order of a shop, from the event to the audit log.

export const CALLBACK_TOKEN =
  'ZGVmYXVsdCBydW5fMDFKRDhaNVE0TTdWOVgySzNONlA4UjBUMVc.5b1f.9c1d2e3f405162738495a6b7c8d9eafb0c1d2e3f405162738495a6b7c8d9eafb'
export const RUN_TOKEN = {
  token:
    'pdt_WyJkZWZhdWx0IiwicnVuXzAxSkQ4WjVRNE03VjlYMkszTjZQOFIwVDFXIiwxNzQwODE5NzAwMDAwLCIiLCIiXQ.c5Hn0Tq2bX8uVw1eRk7yZs4mLp9dGfJa',
  expiresAt: '2025-03-01T09:15:00.000Z',
}
export const RUN_ID = 'run_01JD8Z5Q4M7V9X2K3N6P8R0T1W'
export const FORK_ID = 'run_01JD90H2C5E8G1J4M7P0S3V6Y9'
export const EVENT_ID = 'evt_01JD8Z5Q4K2B5D8F1H4K7N0R3T'

const EVENT_NAME = 'order/placed'
export const ORDER = { orderId: '4711', total: 4200, currency: 'EUR' } as const

const triggered = { workflow: 'fulfil-order', app: 'shop', runId: RUN_ID } as const

const identity = {
  id: RUN_ID,
  workflow: 'fulfil-order',
  app: 'shop',
  triggerKind: 'event',
  eventName: EVENT_NAME,
  eventId: EVENT_ID,
  attempt: 1,
  createdAt: '2025-03-01T09:00:00.000Z',
  startedAt: '2025-03-01T09:00:00.004Z',
} as const

/** A run that is parked until the event `parcel/left` arrives. */
export const WAITING = {
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

/** A run that its concurrency limit holds. */
export const HELD = {
  id: RUN_ID,
  workflow: identity.workflow,
  app: identity.app,
  status: 'queued',
  triggerKind: 'event',
  attempt: 1,
  createdAt: identity.createdAt,
  waitingFor: { kind: 'concurrency', key: 'acct-17' },
} as const

export const EXPLANATION = {
  runId: RUN_ID,
  status: 'waiting',
  sentence: 'Step "parcel-left" waits for event "parcel/left", until 2025-03-04T09:00:00.120Z at the latest.',
  since: '2025-03-01T09:00:00.120Z',
  waitingFor: WAITING.waitingFor,
  wakeAt: '2025-03-04T09:00:00.120Z',
  event: { name: 'parcel/left' },
  openSteps: 1,
  runners: { live: 1, stale: 0 },
} as const

export const PAUSED = { ...WAITING, status: 'paused' } as const
export const RESUMED = { ...WAITING, status: 'queued' } as const
export const CANCELLED = {
  ...identity,
  status: 'cancelled',
  finishedAt: '2025-03-01T09:10:00.004Z',
  durationMs: 600_000,
} as const

export const SUCCEEDED = {
  ...identity,
  status: 'succeeded',
  finishedAt: '2025-03-01T09:00:02.504Z',
  durationMs: 2500,
} as const

/** A run that was started directly. */
export const STARTED = {
  id: 'run_order-4711',
  workflow: 'fulfil-order',
  app: 'shop',
  status: 'queued',
  triggerKind: 'event',
  attempt: 1,
  createdAt: '2025-03-01T09:00:00.000Z',
} as const

/** A replay of {@link RUN}. A fork has no `eventId`. */
export const FORK = {
  id: FORK_ID,
  workflow: 'fulfil-order',
  app: 'shop',
  status: 'queued',
  triggerKind: 'event',
  eventName: EVENT_NAME,
  replayOf: RUN_ID,
  attempt: 1,
  createdAt: '2025-03-01T10:00:00.000Z',
} as const

export const RUN = {
  ...SUCCEEDED,
  input: ORDER,
  result: { parcel: 'DE-77-1093' },
} as const

/** The end of {@link RUN}. */
export const RUN_RESULT = { runId: RUN_ID, status: RUN.status, result: RUN.result } as const

/** A wait that somebody settled. */
export const SETTLED_STEP = {
  id: 'f3f2a1d0f1f24a4aa3ad9b6de2ce3df0c5f3c4a1c1a1bb1f3a55e3f6e9f0b7d2',
  name: 'parcel-left',
  op: 'WaitForEvent',
  index: 1,
  status: 'succeeded',
  attempt: 1,
  startedAt: '2025-03-01T09:00:00.120Z',
  finishedAt: '2025-03-02T08:30:00.000Z',
  durationMs: 84_599_880,
  data: null,
  wakeAt: '2025-03-04T09:00:00.120Z',
  eventName: 'parcel/left',
  settledBy: { actor: 'ops', reason: 'The carrier confirmed it by phone', at: '2025-03-02T08:30:00.000Z' },
} as const

export const STEPS = [
  {
    id: '39d6dc8e67d88ac5733d668adaf0503a340b0ef0007cad09481f74de8d8ec3fe',
    name: 'charge-card',
    op: 'StepRun',
    index: 0,
    status: 'succeeded',
    attempt: 2,
    startedAt: '2025-03-01T09:00:00.010Z',
    finishedAt: '2025-03-01T09:00:01.350Z',
    durationMs: 1340,
    ranAt: '2025-03-01T09:00:01.260Z',
    ranMs: 85,
    runner: 'shop-1',
    pass: 2,
    data: { chargeId: 'ch_82' },
  },
] as const

export const STEP_DETAIL = {
  ...STEPS[0],
  attempts: [
    {
      attempt: 1,
      status: 'failed',
      endedAt: '2025-03-01T09:00:00.250Z',
      error: { message: 'the bank is away', name: 'Error' },
    },
    { attempt: 2, status: 'succeeded', endedAt: '2025-03-01T09:00:01.350Z' },
  ],
} as const

export const PASSES = [
  {
    pass: 1,
    runner: 'shop-1',
    sentAt: '2025-03-01T09:00:00.010Z',
    answeredAt: '2025-03-01T09:00:00.250Z',
    outcome: 'steps',
    attempt: 1,
    steps: [{ index: 0, id: STEPS[0].id, name: 'charge-card', attempt: 1, status: 'retrying' }],
  },
  {
    pass: 2,
    runner: 'shop-1',
    sentAt: '2025-03-01T09:00:01.250Z',
    answeredAt: '2025-03-01T09:00:01.350Z',
    outcome: 'steps',
    attempt: 2,
    steps: [{ index: 0, id: STEPS[0].id, name: 'charge-card', attempt: 2, status: 'succeeded' }],
  },
] as const

export const LOG_LINES = [
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

export const FRAME = {
  kind: 'run_status',
  seq: 1,
  ts: '2025-03-01T09:00:00.000Z',
  runId: RUN_ID,
  status: 'queued',
} as const

export const SEND = {
  name: EVENT_NAME,
  data: ORDER,
  dedupeId: 'order-4711-placed',
} as const

export const SEND_REPLY = {
  eventId: EVENT_ID,
  runId: RUN_ID,
  woke: 0,
  triggered: [triggered],
} as const

export const DRY_RUN = {
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

export const EVENT = {
  id: EVENT_ID,
  name: EVENT_NAME,
  source: 'api',
  data: ORDER,
  receivedAt: '2025-03-01T09:00:00.000Z',
  woke: 0,
  triggered: [triggered],
} as const

export const REGISTRATION = {
  app: 'shop',
  runner: 'shop-1',
  url: 'http://127.0.0.1:3000/invoke',
  runtime: 'node',
  protocolVersion: 1,
  workflows: [{ name: 'fulfil-order', triggers: [{ event: EVENT_NAME }], retry: { maxAttempts: 3 } }],
} as const

export const WORKFLOW = {
  name: 'fulfil-order',
  app: 'shop',
  retry: { maxAttempts: 3, initialMs: 1000, factor: 2, maxMs: 300_000, jitter: 0.2 },
  triggers: [{ event: EVENT_NAME }],
  scheduled: false,
  schedules: [],
  onFailure: false,
  updatedAt: '2025-03-01T08:59:00.000Z',
} as const

export const WHOAMI = {
  namespace: 'default',
  kind: 'secret',
  open: true,
  suspended: false,
  version: '0.1.0',
  now: '2025-03-01T09:00:00.000Z',
  store: 'sqlite',
  features: ['signature-v2'],
  limits: { bulkReplay: 10_000, streams: 10_000, keyStreams: 10_000 },
} as const
