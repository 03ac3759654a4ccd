// Options of `testEngine()`: their defaults, and the handlers made of their workflows. Called by test-engine.ts.

import { type OptionNames, refuseUnknownOptions } from '@perdure/client/internal'
import { createHandler, type Handler, type HandlerOptions } from '../runner/handler.ts'
import type { Workflow } from '../workflow/workflow.ts'
import type { HostOptions } from './host/host.ts'
import type { StepWatch } from './host/step-watch.ts'
import type { WebhookAnswers } from './host/webhooks.ts'

export type AnyWorkflow = Workflow<never, unknown>

/**
 * Options of an engine under test. Workflows, middleware and limits are the same as for `createHandler`; every app has the
 * limits.
 */
export interface TestEngineOptions extends Pick<HandlerOptions, 'workflows' | 'middleware' | 'limits'> {
  /** Name of the app that the workflows belong to. Default `test`. */
  app?: string
  /** Workflows of further apps, by app name. */
  apps?: Readonly<Record<string, readonly AnyWorkflow[]>>
  /** Virtual time at the start: a Date, epoch milliseconds or ISO 8601. Default 2030-01-01T00:00:00Z. */
  startAt?: Date | number | string
  /** Seed of ids, jitter and all other randomness. The same seed gives the same history. Default 1. */
  seed?: number
  /**
   * Make steps durable while their pass continues, as a Connect runner does, instead of ending the pass at each step, as
   * an HTTP runner does. The workflow behaves the same either way. Default false.
   */
  checkpoints?: boolean
  /** Answers to webhooks, by URL: a status, or several in order. Default 200. */
  webhooks?: Readonly<Record<string, WebhookAnswers>>
  /** Milliseconds of real time without any progress after which a command or read rejects. Default 4000. */
  patienceMs?: number
  /** Further settings of the engine, such as `ENGINE_WEBHOOK_SCHEDULE`. */
  settings?: Readonly<Record<string, string>>
}

const OPTIONS: OptionNames<TestEngineOptions> = {
  workflows: true,
  middleware: true,
  limits: true,
  app: true,
  apps: true,
  startAt: true,
  seed: true,
  checkpoints: true,
  webhooks: true,
  patienceMs: true,
  settings: true,
}

const START_AT = Date.UTC(2030, 0, 1)
const PATIENCE_MS = 4000

/**
 * Returns the options of the engine itself, with defaults. Throws a TypeError for an unknown option or a `startAt` that is not a
 * time.
 */
export function readOptions(options: TestEngineOptions): HostOptions {
  refuseUnknownOptions('testEngine', options, OPTIONS)
  const startAt = options.startAt === undefined ? START_AT : new Date(options.startAt).getTime()
  if (Number.isNaN(startAt)) throw new TypeError(`startAt is not a time: ${String(options.startAt)}`)
  return {
    seed: options.seed ?? 1,
    startAt,
    checkpoints: options.checkpoints ?? false,
    patienceMs: options.patienceMs ?? PATIENCE_MS,
    settings: options.settings ?? {},
  }
}

/** Creates a handler for each app, with its step callbacks watched by `steps`. */
export function handlersOf(options: TestEngineOptions, steps: StepWatch): Handler[] {
  const { app = 'test', apps = {}, workflows, middleware, limits } = options
  const all = new Map<string, readonly AnyWorkflow[]>([[app, workflows], ...Object.entries(apps)])
  return [...all].map(([name, list]) =>
    createHandler({
      middleware,
      ...(limits && { limits }),
      app: name,
      workflows: list.map(workflow => steps.watch(workflow)),
      signingKey: [],
    }),
  )
}
