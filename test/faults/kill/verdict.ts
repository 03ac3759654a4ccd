// Compares what client and runner recorded with what the engine reports after the last crash. Returns the differences in words;
// only an empty list is a success.

import type { EventRecord, Run, RunSummary, StepRecord } from '@perdure/protocol'
import { pages } from '../../kit/http/pages.ts'
import type { Api } from '../../kit/index.ts'
import type { RawRequest } from '../../kit/servers/raw-server.ts'
import type { LoadClient } from './client.ts'
import { ANNOUNCED, approvalOf, LISTENER, type MemoRecord, ORDER, ORDER_STEPS, PACK } from './workload.ts'

export interface Evidence {
  api: Api
  app: string
  client: LoadClient
  runner: MemoRecord
  /** The requests that the webhook destination received. */
  hooks: readonly RawRequest[]
}

const tokenOf = (value: unknown) => (value as { token?: string } | undefined)?.token ?? 'none'

export async function verdict(evidence: Evidence): Promise<string[]> {
  const { api, app, client, runner } = evidence
  const runs = await pages<RunSummary>(api, `/runs?app=${app}&limit=200`)
  const orders = await pages<EventRecord>(api, `/events?name=${ORDER}&limit=1000`)
  const announced = await pages<EventRecord>(api, `/events?name=${ANNOUNCED}&limit=1000`)
  const found = { runs, orders, announced }
  return [
    ...client.problems,
    ...runner.problems,
    ...(await acknowledgedAreThere(evidence)),
    ...everyRunIsAccountedFor(found, runner),
    ...effectsHappenedOnce(found),
    ...(await ordersAreWhole(evidence, orders)),
    ...(await seenResultsStay(evidence)),
  ]
}

interface Found {
  runs: RunSummary[]
  orders: EventRecord[]
  announced: EventRecord[]
}

/**
 * Each acknowledged event is in the log exactly as answered, and ended runs have not changed
 * (docs/promises.md#events).
 */
async function acknowledgedAreThere({ api, client }: Evidence): Promise<string[]> {
  const problems: string[] = []
  for (const { token, accepted } of client.acknowledged.entries()) {
    const { eventId, runId, triggered } = accepted
    const { status, json } = await api.get(`/events/${eventId}`)
    if (status !== 200) problems.push(`${token}: acknowledged event ${eventId} is lost (${status})`)
    else {
      const record = json as EventRecord
      if (tokenOf(record.data) !== token) problems.push(`${token}: event ${eventId} has other data`)
      if (JSON.stringify(record.triggered) !== JSON.stringify(triggered))
        problems.push(`${token}: event ${eventId} triggered ${JSON.stringify(record.triggered)}`)
    }
    const run = await api.get(`/runs/${runId}`)
    if (run.text !== client.ended.get(runId))
      problems.push(`${token}: run ${runId} ended as ${client.ended.get(runId)}, is ${run.text}`)
  }
  return problems
}

/** Every run has its event or parent, every run of an event exists, and all runs have succeeded without spending an attempt. */
function everyRunIsAccountedFor({ runs, orders, announced }: Found, runner: MemoRecord): string[] {
  const problems: string[] = []
  const byId = new Map(runs.map(run => [run.id, run]))
  const triggered = new Set([...orders, ...announced].flatMap(event => event.triggered.map(({ runId }) => runId)))
  for (const id of triggered) if (!byId.has(id as string)) problems.push(`run ${id} of an event does not exist`)
  for (const id of runner.runIds) if (!byId.has(id)) problems.push(`run ${id} was invoked and does not exist`)
  for (const { id, workflow, status, attempt, parentRunId, error } of runs) {
    if (!triggered.has(id) && (parentRunId === undefined || !byId.has(parentRunId)))
      problems.push(`${workflow} ${id} comes from nowhere`)
    if (status !== 'succeeded') problems.push(`${workflow} ${id} is ${status} ${JSON.stringify(error ?? '')}`)
    if (attempt !== 1) problems.push(`${workflow} ${id} spent ${attempt} attempts on crashes of the engine`)
  }
  return problems
}

/** Each order has one emitted event, one listener and one child; no token occurs twice. */
function effectsHappenedOnce({ runs, orders, announced }: Found): string[] {
  const tokens = orders.map(({ data }) => tokenOf(data))
  const orderRuns = runs.filter(({ workflow }) => workflow === ORDER).map(({ id }) => id)
  const parents = runs.filter(({ workflow }) => workflow === PACK).map(({ parentRunId }) => parentRunId as string)
  const listeners = runs.filter(({ workflow }) => workflow === LISTENER).map(({ eventId }) => eventId as string)
  return [
    ...differences('order events per token', tokens, [...new Set(tokens)]),
    ...differences(
      'runs per order event',
      orderRuns,
      orders.map(({ triggered }) => triggered[0]?.runId as string),
    ),
    ...differences(
      'emitted events per order',
      announced.map(({ data }) => tokenOf(data)),
      tokens,
    ),
    ...differences('children per order', parents, orderRuns),
    ...differences(
      'listeners per emitted event',
      listeners,
      announced.map(({ id }) => id),
    ),
  ]
}

/** Every accepted order, acknowledged or not, has each of its steps once, with the right result. */
async function ordersAreWhole({ api, hooks }: Evidence, orders: EventRecord[]): Promise<string[]> {
  const problems: string[] = []
  const delivered = new Map<string, Set<string>>()
  for (const { body, headers } of hooks) {
    const token = tokenOf(JSON.parse(body))
    delivered.set(token, (delivered.get(token) ?? new Set()).add(headers['webhook-id'] as string))
  }
  for (const { data, triggered } of orders) {
    const token = tokenOf(data)
    const runId = triggered[0]?.runId
    const run = (await api.get(`/runs/${runId}`)).json as Run
    const steps = (await api.get(`/runs/${runId}/steps`)).json as StepRecord[]
    const expected = { reserve: token, charge: token, pack: token, ship: token }
    if (JSON.stringify(run.result) !== JSON.stringify(expected))
      problems.push(`${token}: run ${runId} gave ${JSON.stringify(run.result)}`)
    problems.push(
      ...differences(
        `steps of ${runId}`,
        steps.map(({ name }) => name),
        ORDER_STEPS,
      ),
    )
    for (const { name, status } of steps) if (status !== 'succeeded') problems.push(`${runId}: ${name} is ${status}`)
    const approval = steps.find(({ name }) => name === 'approval')?.data as EventRecord | undefined
    const approvals = await pages<EventRecord>(api, `/events?name=${approvalOf(token)}&limit=10`)
    if (approvals.length !== 1) problems.push(`${token}: ${approvals.length} events of one dedupe id`)
    if (approval?.name !== approvalOf(token)) problems.push(`${token}: approved by ${JSON.stringify(approval)}`)
    const { deliveryId } = steps.find(({ name }) => name === 'notify') ?? {}
    if ([...(delivered.get(token) ?? [])].join() !== deliveryId)
      problems.push(
        `${token}: delivery ${deliveryId} arrived as ${[...(delivered.get(token) ?? [])].join() || 'nothing'}`,
      )
  }
  return problems
}

/** Each result that a pass carried is still the step's result: no step has two results (docs/promises.md#runs). */
async function seenResultsStay({ api, runner }: Evidence): Promise<string[]> {
  const problems: string[] = []
  const byRun = new Map<string, Map<string, string>>()
  for (const entry of runner.ledger.entries()) {
    if (entry.kind !== 'carried') continue
    byRun.set(entry.runId, (byRun.get(entry.runId) ?? new Map()).set(entry.stepId, entry.result))
  }
  for (const [runId, results] of byRun) {
    const steps = (await api.get(`/runs/${runId}/steps`)).json as StepRecord[]
    const stored = new Map(steps.map(({ id, data }) => [id, JSON.stringify(data)]))
    for (const [stepId, result] of results) {
      const now = stored.get(stepId)
      if (now !== result) problems.push(`${runId}: a pass carried ${result} of step ${stepId}, which is ${now} now`)
    }
  }
  return problems
}

/** The entries that are more frequent in one list than in the other. */
function differences(what: string, actual: readonly string[], expected: readonly string[]): string[] {
  const counts = new Map<string, number>()
  for (const value of actual) counts.set(value, (counts.get(value) ?? 0) + 1)
  for (const value of expected) counts.set(value, (counts.get(value) ?? 0) - 1)
  return [...counts]
    .filter(([, count]) => count !== 0)
    .map(
      ([value, count]) => `${what}: ${value} is there ${Math.abs(count)} time(s) too ${count > 0 ? 'often' : 'seldom'}`,
    )
}
