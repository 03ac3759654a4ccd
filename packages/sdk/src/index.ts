// `@perdure/sdk`: defines workflows, answers invokes and sends events. Each framework is served by `@perdure/sdk/<name>`.

export * from './client/client.ts'
export type { RunHandle, StartOptions } from './client/start.ts'
export type * from './middleware/middleware.ts'
export { Cancellation } from './run/cancellation.ts'
export type { Logger } from './run/logger.ts'
export type * from './run/run-context.ts'
export {
  createHandler,
  type Handler,
  type HandlerOptions,
  type HandlerRequest,
  type HandlerResponse,
  type HeaderSource,
} from './runner/handler.ts'
export {
  type Registration,
  type RegistrationOptions,
  SDK_NAME,
  SDK_VERSION,
  startRegistration,
} from './runner/registration.ts'
export {
  defineEvent,
  type EventDefinition,
  type NamesOf,
  type ReceivedOf,
  type SentOf,
} from './schema/event.ts'
export { createFetchHandler, type FetchHandler } from './serve/fetch.ts'
export {
  ConfigError,
  type DataIssue,
  InvalidDataError,
  NonRetriableError,
  PerdureError,
  RetryAfterError,
  RunEndedError,
  StepFailedError,
  StepTimeoutError,
} from './wire/errors.ts'
export type { Json } from './wire/json.ts'
export {
  type CollectingWorkflowOptions,
  createWorkflow,
  type EventWorkflowOptions,
  type SchemaWorkflowOptions,
  type WorkflowOptions,
} from './workflow/create-workflow.ts'
export type * from './workflow/flow-control.ts'
export type { AnyTrigger, CronData, WorkflowTrigger } from './workflow/triggers.ts'
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
} from './workflow/workflow.ts'
