// The definition of a workflow in words: its triggers, its flow control and its retries, each as a sentence.

import type { WorkflowDefinition } from '@perdure/protocol'
import { durationText } from '../../ui/duration.ts'
import { cronWords } from '../schedules/cron-words.ts'

type Definition = Pick<
  WorkflowDefinition,
  'triggers' | 'retry' | 'flowControl' | 'onFailure' | 'whenExhausted' | 'handlerRetries'
>

/** `order.placed`, or a schedule in words. */
export function triggerWords(trigger: WorkflowDefinition['triggers'][number]): string {
  if (trigger.cron !== undefined) return cronWords(trigger.cron) ?? trigger.cron
  return trigger.if === undefined ? String(trigger.event) : `${trigger.event} if ${trigger.if}`
}

/** Sentences about a definition. What it does not have is not mentioned. */
export function definitionWords({ triggers, retry, flowControl = {}, onFailure, whenExhausted }: Definition): string[] {
  const starts =
    triggers.length === 0
      ? 'Only other workflows and people start it.'
      : `It starts on ${triggers.map(triggerWords).join(', or on ')}.`
  const retries =
    retry.maxAttempts === 1
      ? 'A step that fails is not tried again.'
      : `A step is tried ${retry.maxAttempts} times: the first wait is ${durationText(retry.initialMs)}, each next one ${retry.factor} times as long, up to ${durationText(retry.maxMs)}.`
  return [
    starts,
    ...Object.entries(flowControl).flatMap(([policy, value]) => policyWords(policy, value)),
    retries,
    ...(whenExhausted === 'pause' ? ['A run that has spent its tries pauses, until somebody resumes it.'] : []),
    ...(onFailure ? ['A handler of its own runs after a failure.'] : []),
  ]
}

interface Policy {
  limit?: number
  key?: string
  scope?: string
  periodMs?: number
  burst?: number
  timeoutMs?: number
  maxSize?: number
  mode?: string
  ttlMs?: number
  queueMs?: number
  runMs?: number
  event?: string
  if?: string
}

const span = (ms: number | undefined) => durationText(ms ?? 0)
const perKey = (key: string | undefined) => (key === undefined ? '' : ` per ${key}`)

const WORDS: Readonly<Record<string, (policy: Policy) => string>> = {
  concurrency: ({ limit, key, scope }) =>
    `At most ${limit} ${limit === 1 ? 'run is' : 'runs are'} active at once${perKey(key)}${scope === undefined || scope === 'workflow' ? '' : `, over the whole ${scope}`}.`,
  throttle: ({ limit, periodMs, key }) =>
    `At most ${limit} runs start in ${span(periodMs)}${perKey(key)}; others wait.`,
  rateLimit: ({ limit, periodMs, key }) =>
    `At most ${limit} runs start in ${span(periodMs)}${perKey(key)}; further events start nothing.`,
  debounce: ({ periodMs, key }) => `Events within ${span(periodMs)} of each other become one run${perKey(key)}.`,
  batch: ({ maxSize, timeoutMs, key }) =>
    `Up to ${maxSize} events, or those of ${span(timeoutMs)}, become one run${perKey(key)}.`,
  singleton: ({ mode, key }) =>
    mode === 'cancel'
      ? `A new run cancels the one before${perKey(key)}.`
      : `While a run is alive, events start no other${perKey(key)}.`,
  idempotency: ({ key, ttlMs }) => `Each ${key} starts one run within ${span(ttlMs)}.`,
  timeouts: ({ queueMs, runMs }) =>
    [
      queueMs === undefined ? undefined : `It is given up when it has not started after ${span(queueMs)}.`,
      runMs === undefined ? undefined : `It fails when it has not ended after ${span(runMs)}.`,
    ]
      .filter(Boolean)
      .join(' '),
  cancelOn: policy => `The event ${policy.event} cancels it${policy.if === undefined ? '' : ` if ${policy.if}`}.`,
}

function policyWords(name: string, value: unknown): string[] {
  if (name === 'priority') return [`Its priority is ${String(value)}.`]
  const words = WORDS[name]
  if (words === undefined) return []
  return [value].flat().flatMap(policy => words(policy as Policy) || [])
}
