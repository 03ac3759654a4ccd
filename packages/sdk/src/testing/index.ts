// `@perdure/sdk/testing`: the testing kit, which runs the real engine in the test's own process. It requires
// `@perdure/engine`.

export { RunFailedError, TestingError } from './host/errors.ts'
export type { MockCall, MockCallback, MockOptions, StepHold, StepMock } from './host/step-watch.ts'
export type { TestStream } from './host/test-stream.ts'
export type { SentWebhook, WebhookAnswer, WebhookAnswers } from './host/webhooks.ts'
export type { TestEngineOptions } from './options.ts'
export {
  type SendEventOptions,
  type SentEvent,
  type StartOptions,
  type StopOptions,
  type TestEngine,
  testEngine,
} from './test-engine.ts'
export type { TestRun, WithinOptions } from './test-run.ts'
