// `@perdure/sdk`: defines workflows, answers invokes and sends events. Each framework is served by `@perdure/sdk/<name>`.

export { Cancellation } from './cancellation.ts'
export {
  type Client,
  type ClientOptions,
  createClient,
  type EventToSend,
  type SendDefinedOptions,
  type SendOptions,
} from './client.ts'
export {
  type CollectingWorkflowOptions,
  createWorkflow,
  type EventWorkflowOptions,
  type SchemaWorkflowOptions,
  type WorkflowOptions,
} from './create-workflow.ts'
export {
  ConfigError,
  type DataIssue,
  InvalidDataError,
  NonRetriableError,
  PerdureError,
  RetryAfterError,
  StepFailedError,
} from './errors.ts'
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
export type {
  InputPlace,
  Middleware,
  OutputPlace,
  PassEnd,
  RunCall,
  StepCall,
} from './middleware/middleware.ts'
export { type Registration, type RegistrationOptions, startRegistration } from './registration.ts'
export type { Duration, ReceivedEvent, RunContext, StepContext, WorkflowEvent } from './run-context.ts'
export {
  defineEvent,
  type EventDefinition,
  type NamesOf,
  type ReceivedOf,
  type SentOf,
} from './schema/event.ts'
export type { AnyTrigger, CronData, WorkflowTrigger } from './schema/triggers.ts'
export { createFetchHandler, type FetchHandler } from './serve/fetch.ts'
export { SDK_NAME, SDK_VERSION } from './version.ts'
export type {
  DataOf,
  FailureArgs,
  InputOf,
  OutputOf,
  StepRunOptions,
  StepTools,
  WaitForDefinedOptions,
  WaitForEventOptions,
  Workflow,
  WorkflowArgs,
  WorkflowHandler,
} from './workflow.ts'
