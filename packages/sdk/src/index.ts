// `@perdure/sdk`: defines workflows and answers invokes. Includes the client, which sends events and starts runs. Each framework
// has its own entry, `@perdure/sdk/<name>`.

export * from '@perdure/client'
export { type CurrentRun, currentRun } from './ambient/current-run.ts'
export { log } from './ambient/log.ts'
export type * from './middleware/middleware.ts'
export type { RaceBranch, RaceResult } from './run/branch.ts'
export { Cancellation } from './run/cancellation.ts'
export type { Logger } from './run/logger.ts'
export type { OutputStream, StreamSource } from './run/output-stream.ts'
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
export { createFetchHandler, type FetchHandler } from './serve/fetch.ts'
export { RetryAfterError, type RunFailure, StepFailedError, StepTimeoutError } from './wire/errors.ts'
export { StreamLimitError, StreamUnavailableError } from './wire/stream-errors.ts'
export {
  type Budget,
  type CollectingWorkflowOptions,
  createWorkflow,
  type EventWorkflowOptions,
  type SchemaWorkflowOptions,
  type WorkflowOptions,
} from './workflow/create-workflow.ts'
export type * from './workflow/flow-control.ts'
export type { AnyTrigger, CronData, RunEndedData, WorkflowTrigger } from './workflow/triggers.ts'
export type {
  AwaitedError,
  AwaitedRun,
  CancelArgs,
  DataOf,
  EmitEventOptions,
  EmittedEvents,
  FailureArgs,
  InputOf,
  OutputOf,
  Rollback,
  RunWorkflowOptions,
  StartedRun,
  StartRunOptions,
  StepMapOptions,
  StepRunOptions,
  StepTools,
  WaitForDefinedOptions,
  WaitForEventOptions,
  WaitForRunOptions,
  WaitForSignalOptions,
  Workflow,
  WorkflowArgs,
  WorkflowHandler,
} from './workflow/workflow.ts'
