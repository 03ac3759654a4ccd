// The values of the API's enumerations, for schemas, query parameters and the command line. Separate from the schemas, which take
// a hundred milliseconds to load.

export const RUN_STATUSES = ['queued', 'running', 'waiting', 'paused', 'succeeded', 'failed', 'cancelled'] as const

/** The statuses of a run that has ended. */
export const TERMINAL_STATUSES = ['succeeded', 'failed', 'cancelled'] as const

/** The kinds of wait of a parked or held run: the `kind` of its `waitingFor`. */
export const WAITING_KINDS = [
  'sleep',
  'event',
  'signal',
  'callback',
  'run',
  'child',
  'retry',
  'runner',
  'concurrency',
  'throttle',
  'limit',
  'failure',
  'workflow-paused',
  'budget',
] as const

/** The orders of `GET /schedules`. */
export const SCHEDULE_SORTS = ['id', 'next', 'missed'] as const

/** The kinds of entries in `GET /limits`. */
export const LIMIT_KINDS = ['concurrency', 'throttle', 'singleton', 'step'] as const

export const STEP_STATUSES = ['running', 'waiting', 'retrying', 'succeeded', 'failed', 'cancelled'] as const

/**
 * The source of an event: a caller or a webhook, a run, a schedule of the API, or the engine, when a run ended. A signal and an
 * update also come from a caller, for one run.
 */
export const EVENT_SOURCES = ['api', 'emit', 'schedule', 'engine', 'signal', 'update'] as const

/** Only the engine sends events whose names begin with this prefix. */
export const ENGINE_EVENT_PREFIX = 'perdure/'

export const RUN_TYPES = ['event', 'cron'] as const

/** A queued run that waits for one of these is held back. */
export const HOLDING_WAITS = ['concurrency', 'throttle', 'runner', 'workflow-paused'] as const

/** The kinds of runs that follow a run which has failed or was cancelled. */
export const FOLLOW_ON_KINDS = ['onFailure', 'cleanup'] as const

/** A run executes the handler of its workflow, or follows a run that has failed or was cancelled. */
export const RUN_KINDS = ['run', ...FOLLOW_ON_KINDS] as const

/** The sort keys of `GET /runs`. */
export const RUN_SORT_KEYS = ['started', 'workflow', 'status', 'app', 'duration'] as const

/** The lengths of the spans of a series. */
export const SERIES_STEPS = ['5m', '1h', '1d'] as const

export const SORT_DIRECTIONS = ['asc', 'desc'] as const

export const CONTROL_ACTIONS = [
  'cancel',
  'pause',
  'resume',
  'replay',
  'retry_from_step',
  'step.settle',
  'bulk_replay',
  'bulk.cancel',
  'bulk.pause',
  'bulk.resume',
  'bulk.replay',
  'bulk.retry-failed-step',
  'bulk.redeliver',
  'workflow.pause',
  'workflow.resume',
  'workflow.limits',
  'workflow.delete',
  'app.delete',
  'run.erase',
  'run.budget',
  'run.token',
  'event.redrive',
  'scheduled_event.delete',
  'schedule.put',
  'schedule.delete',
  'schedule.pause',
  'schedule.resume',
  'schedule.fire',
  'buffer.flush',
  'endpoint.create',
  'endpoint.update',
  'endpoint.delete',
  'endpoint.test',
  'receiver.create',
  'receiver.update',
  'receiver.delete',
  'key.create',
  'key.revoke',
  'engine.release',
  'error.resolve',
  'error.ignore',
  'error.reopen',
  'view.put',
  'view.delete',
] as const

/** The policies of flow control that buffer events. */
export const BUFFER_KINDS = ['debounce', 'batch'] as const

/** The actions of `POST /bulk`. */
export const BULK_ACTIONS = ['cancel', 'pause', 'resume', 'replay', 'retry-failed-step'] as const
export const BULK_OUTCOMES = ['done', 'skipped', 'failed'] as const

/** The kinds of API key; docs/security.md#keys-and-namespaces lists what each opens. */
export const KEY_KINDS = ['secret', 'read', 'event', 'runner'] as const

/** The kinds that a session can have. */
export const SESSION_KINDS = ['read', 'secret'] as const

/** The lifecycle events that an endpoint can subscribe to. */
export const LIFECYCLE_KINDS = ['run.succeeded', 'run.failed', 'run.cancelled', 'step.failed'] as const

/** The kinds of webhook delivery: notices of the lifecycle, the sends of steps, and tests of endpoints. */
export const DELIVERY_KINDS = [...LIFECYCLE_KINDS, 'custom', 'test'] as const

export const RECEIVER_SCHEMES = ['standard-webhooks', 'github', 'stripe', 'slack', 'hmac-sha256'] as const

/** The two kinds of schedule: a cron trigger of a workflow, and one that was made through the API. */
export const SCHEDULE_SOURCES = ['workflow', 'api'] as const

/** Rules for the instants that passed while no engine could fire them: the newest fires, all do, or none does. */
export const CATCH_UPS = ['one', 'all', 'none'] as const

export const DELIVERY_STATUSES = ['pending', 'delivering', 'succeeded', 'failed', 'exhausted', 'dead'] as const

/**
 * The effect of a start with a key that meets a live run with that key: the reply is that run, the start is refused, or it
 * cancels that run.
 */
export const IF_RUNNING = ['use', 'refuse', 'cancel'] as const
export type IfRunning = (typeof IF_RUNNING)[number]

/**
 * The filters of the list of runs. Bulk actions, the bulk replay and the console each support every filter, or name it among
 * those that they lack: a new filter does not compile without a decision about all three.
 */
export type RunFilterName =
  | ('app' | 'workflow' | 'status' | 'runType' | 'kind' | 'eventId' | 'replayOf' | 'parentRunId' | 'waitingFor')
  | ('error' | 'runner' | 'key' | 'ids' | 'bulkId' | 'attribute' | 'q' | 'deep')
  | ('since' | 'until' | 'endedSince' | 'endedUntil' | 'root')
