// The SDK: define workflows, answer invokes, send events. Serving is under `@perdure/sdk/node` and `/hono`.

export { Cancellation } from './cancellation.ts'
export {
  type Client,
  type ClientOptions,
  createClient,
  type EventToSend,
  type SendOptions,
} from './client.ts'
export { NonRetriableError, PerdureError, RetryAfterError, StepFailedError } from './errors.ts'
export type {
  Batch,
  CancelOn,
  ConcurrencyLimit,
  Debounce,
  FlowControl,
  FlowControlOf,
  Idempotency,
  RateLimit,
  Singleton,
  Throttle,
  Timeouts,
} from './flow-control.ts'
export {
  createHandler,
  type Handler,
  type HandlerOptions,
  type HandlerRequest,
  type HandlerResponse,
  type HeaderSource,
} from './handler.ts'
export type { Json } from './json.ts'
export type { Logger } from './logger.ts'
export { type Registration, type RegistrationOptions, startRegistration } from './registration.ts'
export { createFetchHandler, type FetchHandler } from './serve/fetch.ts'
export type {
  Duration,
  FailureArgs,
  ReceivedEvent,
  RunContext,
  StepContext,
  StepRunOptions,
  StepTools,
  WaitForEventOptions,
  WorkflowArgs,
  WorkflowEvent,
} from './step-tools.ts'
export { SDK_NAME, SDK_VERSION } from './version.ts'
export {
  createWorkflow,
  type InputOf,
  type OutputOf,
  type Workflow,
  type WorkflowHandler,
  type WorkflowOptions,
  type WorkflowTrigger,
} from './workflow.ts'
