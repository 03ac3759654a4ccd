// What a test may choose of its engine, and what becomes of it.

import { createHandler, type Handler, type HandlerOptions } from '../handler.ts'
import type { Workflow } from '../workflow.ts'
import type { HostOptions } from './host.ts'
import type { StepWatch } from './steps.ts'
import type { WebhookAnswers } from './webhooks.ts'

export type AnyWorkflow = Workflow<never, unknown>

/** Workflows and runner-wide middleware are as `createHandler` takes them. */
export interface TestEngineOptions extends Pick<HandlerOptions, 'workflows' | 'middleware'> {
  /** Name of the app that the workflows belong to. Default `test`. */
  app?: string
  /** Workflows of further apps, by the name of the app. */
  apps?: Readonly<Record<string, readonly AnyWorkflow[]>>
  /** Virtual time at the beginning: a Date, epoch milliseconds or ISO 8601. Default 2030-01-01T00:00:00Z. */
  startAt?: Date | number | string
  /** Of ids, jitter and all else that is random. The same seed gives the same history. Default 1. */
  seed?: number
  /**
   * Makes steps durable while their pass goes on, as a Connect runner does, instead of ending a pass at each step, as
   * over HTTP. What a workflow does is the same either way. Default false.
   */
  checkpoints?: boolean
  /** How webhooks are answered, by URL: a status, or several, one after the other. Default 200. */
  webhooks?: Readonly<Record<string, WebhookAnswers>>
  /** Real time in which a step's callback must finish, or something else go on. Default 4000. */
  patienceMs?: number
  /** Further settings of the engine, such as `ENGINE_WEBHOOK_SCHEDULE`. */
  settings?: Readonly<Record<string, string>>
}

const START_AT = Date.UTC(2030, 0, 1)
const PATIENCE_MS = 4000

/** What of the options concerns the engine. Throws a TypeError when `startAt` is no time. */
export function readOptions(options: TestEngineOptions): HostOptions {
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

/** Whether the workflows alone were given. */
export function isList(value: readonly AnyWorkflow[] | TestEngineOptions): value is readonly AnyWorkflow[] {
  return Array.isArray(value)
}

/** A handler for each app, its step callbacks watched. */
export function handlersOf(options: TestEngineOptions, steps: StepWatch): Handler[] {
  const { app = 'test', apps = {}, workflows, middleware } = options
  const all = new Map<string, readonly AnyWorkflow[]>([[app, workflows], ...Object.entries(apps)])
  return [...all].map(([name, list]) =>
    createHandler({
      ...(middleware && { middleware }),
      app: name,
      workflows: list.map(workflow => steps.watch(workflow)),
      signingKey: [],
    }),
  )
}
