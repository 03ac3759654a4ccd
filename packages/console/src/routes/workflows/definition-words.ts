// The definition of a workflow as text: its triggers, its flow control and its retries, each as a sentence.

import type { EventMatch, WorkflowDefinition } from '@perdure/protocol'
import { matchText } from '@perdure/protocol/portable'
import { durationText } from '../../ui/duration.ts'
import { cronWords } from '../schedules/cron-words.ts'

type Definition = Pick<
  WorkflowDefinition,
  | 'triggers'
  | 'retry'
  | 'flowControl'
  | 'onFailure'
  | 'cleanup'
  | 'whenExhausted'
  | 'handlerRetries'
  | 'retention'
  | 'budget'
>

/** Returns the fields of a cron, and its time zone. */
function zoned(cron: string): { fields: string; zone: string } {
  const [, zone = 'UTC', fields = cron] = /^TZ=(\S+)\s+(.*)$/.exec(cron) ?? []
  return { fields, zone }
}

/** Returns `order.placed`, or a schedule as text, with its zone. */
export function triggerWords(trigger: WorkflowDefinition['triggers'][number]): string {
  if (trigger.cron !== undefined) {
    const { fields, zone } = zoned(trigger.cron)
    return `${cronWords(fields) ?? fields} (${zone})`
  }
  return String(trigger.event) + conditionWords(trigger)
}

/** Returns `on order.placed`, `every day at 09:00 (Europe/Berlin)`. */
function startWords(trigger: WorkflowDefinition['triggers'][number]): string {
  const { cron } = trigger
  if (cron === undefined) return `on ${triggerWords(trigger)}`
  const { fields, zone } = zoned(cron)
  const words = cronWords(fields) ?? `by the cron ${fields}`
  return `${/^(every|on|by) /.test(words) ? words : `on ${words}`} (${zone})`
}

function retryWords({ maxAttempts, initialMs, factor, maxMs, maxElapsedMs }: Definition['retry']): string {
  if (maxAttempts === 1) return 'Failed steps are not retried.'
  const times = maxAttempts === 'unlimited' ? 'until it succeeds' : `up to ${maxAttempts} times`
  const first = `A step is tried ${times}${maxElapsedMs === undefined ? '' : `, for at most ${span(maxElapsedMs)}`}`
  if (maxAttempts === 2 || factor === 1) return `${first}, ${span(initialMs)} apart.`
  const growth = factor === 2 ? 'doubling' : `growing ${factor}-fold`
  return `${first}: the first retry follows after ${span(initialMs)}, then the delay keeps ${growth} up to ${span(maxMs)}.`
}

function passWords(tries: number | undefined): string[] {
  if (tries === undefined) return []
  return [`A pass that fails outside its steps is ${tries === 1 ? 'not retried' : `tried up to ${tries} times`}.`]
}

function budgetWords({ whenExceeded, ...limits }: Definition['budget'] & object = {}): string[] {
  const texts = Object.entries(limits).map(([name, limit]) => `${String(limit)} ${name}`)
  if (texts.length === 0) return []
  const end = whenExceeded === 'fail' ? 'fails' : 'is paused'
  return [`A run and its descendants may spend ${texts.join(', ')}; beyond that each ${end}.`]
}

/** Returns sentences about a definition. Absent parts are not mentioned. */
export function definitionWords(definition: Definition): string[] {
  const { triggers, retry, flowControl = {}, onFailure, cleanup, whenExhausted, handlerRetries } = definition
  const { budget, retention } = definition
  const starts =
    triggers.length === 0
      ? 'It is started only by other workflows or by hand.'
      : `It starts ${triggers.map(startWords).join(', or ')}.`
  return [
    starts,
    ...Object.entries(flowControl).flatMap(([policy, value]) => policyWords(policy, value)),
    retryWords(retry),
    ...passWords(handlerRetries),
    ...(whenExhausted === 'pause' ? ['When all retries fail, a run is paused until it is resumed.'] : []),
    ...budgetWords(budget),
    ...(onFailure ? ['Has an on-failure handler.'] : []),
    ...(cleanup ? ['Has a handler for cancelled runs.'] : []),
    ...Object.entries(retention ?? {}).map(
      ([status, ms]) => `Runs that ${ENDED[status]} are deleted after ${span(ms)}.`,
    ),
  ]
}

const ENDED: Readonly<Record<string, string>> = {
  succeeded: 'succeeded',
  failed: 'failed',
  cancelled: 'were cancelled',
}

interface Policy {
  limit?: number
  key?: string
  scope?: string
  hold?: string
  weight?: string
  periodMs?: number
  burst?: number
  timeoutMs?: number
  maxSize?: number
  mode?: string
  ttlMs?: number
  queueMs?: number
  runMs?: number
  invokeMs?: number
  event?: string
  if?: string
  match?: EventMatch
}

/** Returns ` with data.plan = "pro" if event.data.n > 1`. */
function conditionWords({ if: filter, match }: { if?: string | undefined; match?: EventMatch | undefined }): string {
  const values =
    match === undefined
      ? ''
      : ` with ${Array.isArray(match) || typeof match === 'string' ? 'the same ' : ''}${matchText(match)}`
  return values + (filter === undefined ? '' : ` if ${filter}`)
}

const span = (ms: number | undefined) => durationText(ms ?? 0)
const perKey = (key: string | undefined) => (key === undefined ? '' : ` per ${key}`)

const runs = (limit: number | undefined, verb: string) => `${limit} ${limit === 1 ? `run ${verb}s` : `runs ${verb}`}`

const WORDS: Readonly<Record<string, (policy: Policy) => string>> = {
  concurrency: ({ limit, key, scope, hold }) =>
    `At most ${limit} ${limit === 1 ? 'run is' : 'runs are'} active at once${perKey(key)}${scope === undefined || scope === 'workflow' ? '' : `, over the whole ${scope}`}${hold === 'run' ? '; a run keeps its slot until it ends' : ''}.`,
  fairness: ({ key, weight }) =>
    `Runs that wait take turns by ${key}${weight === undefined ? '' : `, each key with the weight ${weight}`}.`,
  throttle: ({ limit, periodMs, burst, key }) =>
    `At most ${runs(limit, 'start')} in ${span(periodMs)}${perKey(key)}${burst ? `, with a burst of ${burst} more after idle time` : ''}; others wait.`,
  rateLimit: ({ limit, periodMs, key }) =>
    `At most ${runs(limit, 'start')} in ${span(periodMs)}${perKey(key)}; further events start no runs.`,
  debounce: ({ periodMs, timeoutMs, key, mode }) =>
    `Events within ${span(periodMs)} of each other become one run${perKey(key)}${timeoutMs === undefined ? '' : `, at the latest ${span(timeoutMs)} after the first`}${mode === 'first' || mode === 'all' ? `, with the data of ${mode === 'all' ? 'all' : 'the first'}` : ''}.`,
  batch: ({ maxSize, timeoutMs, key }) =>
    `Up to ${maxSize} events, or those within ${span(timeoutMs)}, become one run${perKey(key)}.`,
  singleton: ({ mode, key }) =>
    mode === 'cancel'
      ? `A new run cancels the previous one${perKey(key)}.`
      : `While a run is active, events start no other run${perKey(key)}.`,
  idempotency: ({ key, ttlMs }) => `Each ${key} starts one run within ${span(ttlMs)}.`,
  timeouts: ({ queueMs, runMs, invokeMs }) =>
    [
      queueMs === undefined ? undefined : `A run fails if it has not started after ${span(queueMs)}.`,
      runMs === undefined ? undefined : `A run fails if it has not ended after ${span(runMs)}.`,
      invokeMs === undefined ? undefined : `A pass fails without a response after ${span(invokeMs)}.`,
    ]
      .filter(Boolean)
      .join(' '),
  cancelOn: policy => {
    const late = policy.timeoutMs === undefined ? '' : `, up to ${span(policy.timeoutMs)} after its creation`
    return `The event ${policy.event} cancels it${conditionWords(policy)}${late}.`
  },
}

function policyWords(name: string, value: unknown): string[] {
  if (name === 'priority') return [`The run priority is ${String(value)}.`]
  const words = WORDS[name]
  if (words === undefined) return []
  return [value].flat().flatMap(policy => words(policy as Policy) || [])
}
