// The testing kit, `@perdure/sdk/testing`: the real engine in a test's own process. It needs `@perdure/engine`.

export { RunFailedError, TestingError } from './errors.ts'
export type { TestEngineOptions } from './options.ts'
export type { MockCall, MockCallback, MockOptions, StepHold, StepMock } from './steps.ts'
export {
  type SendEventOptions,
  type SentEvent,
  type StartOptions,
  type StopOptions,
  type TestEngine,
  testEngine,
} from './test-engine.ts'
export type { TestRun, WithinOptions } from './test-run.ts'
export type { SentWebhook, WebhookAnswer, WebhookAnswers } from './webhooks.ts'
