// The workflows of docs/conformance.md for the plain runner, and the checks of version and signature that a runner makes
// before it runs a pass.

import { createHash, createHmac } from 'node:crypto'
import type { Handler } from '../kit/index.ts'
import type { Invoke } from '../kit/runner/runner-record.ts'
import { stepId } from '../kit/runner/wire.ts'
import { code, NotRetriable, type Program, parked, pass } from './program.ts'
import { reportingPass } from './reporting.ts'

const dataOf = (invoke: Invoke) => invoke.event.data as { n: number; atMs: number; url: string }

const fail = (message: string) => () => {
  throw new Error(message)
}

export const PROGRAMS: Record<string, Program> = {
  *'conform-sequence'(invoke) {
    const sum: number = yield code('add', () => dataOf(invoke).n + 1)
    return { result: yield code('double', () => sum * 2) }
  },
  *'conform-repeat'() {
    let sum = 0
    for (const n of [1, 2, 3]) sum += yield code('Größe ✓', () => n)
    return { sum }
  },
  *'conform-parallel'() {
    const rest = parked('Sleep', 'rest', { sleepMs: 60_000 })
    const [left, right]: string[] = yield [code('left', () => 'L'), code('right', () => 'R'), rest]
    return { parts: [left, right] }
  },
  *'conform-retry'({ ctx }) {
    return yield code('flaky', () => (ctx.attempt < 2 ? fail('not yet')() : 'done'))
  },
  *'conform-attempt'({ ctx }) {
    const { stepAttempts = {} } = ctx as { stepAttempts?: Record<string, number> }
    return yield code('count', () => stepAttempts[stepId('count')] ?? 1)
  },
  *'conform-final'() {
    yield code('hopeless', () => {
      throw new NotRetriable('never')
    })
  },
  *'conform-catch'() {
    try {
      return { risky: yield code('risky', fail('declined'), { catchable: true }) }
    } catch (error) {
      return { fallback: yield code('fallback', () => (error as Error).message) }
    }
  },
  *'conform-fail'() {
    yield code('risky', fail('declined'))
  },
  // biome-ignore lint/correctness/useYield: it has no step.
  *'conform-throw'() {
    throw new Error('broken')
  },
  *'conform-sleep'(invoke) {
    yield parked('Sleep', 'nap', { sleepMs: 1500 })
    yield parked('SleepUntil', 'until', { sleepUntilMs: dataOf(invoke).atMs })
    return { awake: true }
  },
  *'conform-wait'() {
    const fields = { eventName: 'conform.approved', timeoutMs: 60_000, if: 'async.data.id == event.data.id' }
    const event = (yield parked('WaitForEvent', 'approval', fields)) as { data: { by: string } } | null
    return { by: event?.data.by ?? null }
  },
  *'conform-child'(invoke) {
    const fields = { childName: 'conform-sequence', childData: { n: dataOf(invoke).n } }
    try {
      return { child: yield parked('RunWorkflow', 'sum', fields) }
    } catch (error) {
      return { caught: (error as Error).message }
    }
  },
  *'conform-effects'(invoke) {
    yield parked('Emit', 'tell', { eventName: 'conform.told', data: { n: 1 } })
    yield parked('Webhook', 'call', { webhookUrl: dataOf(invoke).url, data: { n: 2 } })
    return { sent: true }
  },
  *'conform-race'() {
    const signal = parked('WaitForEvent', 'signal', { eventName: 'conform.signal', timeoutMs: 60_000 })
    return { winner: yield { race: [signal, parked('Sleep', 'limit', { sleepMs: 60_000 })] } }
  },
  *'conform-failure'({ ctx }) {
    if (!ctx.onFailure) return null
    return { reported: yield code('report', () => ctx.error?.message) }
  },
  // biome-ignore lint/correctness/useYield: it has no step.
  *'conform-logs'() {
    return { logged: true }
  },
  *'conform-echo'(invoke) {
    return yield code('echo', () => invoke.event.data)
  },
}

const LINE = { level: 'info', message: 'hello', fields: { n: 1 }, scope: '@root', index: 0 }

export function handlerOf(program: Program): Handler {
  return invoke => {
    if (invoke.ctx.checkpointUrl !== undefined) return reportingPass(program, invoke)
    const reply = pass(program, invoke)
    if (program !== PROGRAMS['conform-logs'] || typeof reply === 'function') return reply
    return { ...reply, body: { ...(reply.body as object), logs: [LINE] } }
  }
}

export const SIGNING_KEY = 'a-signing-key-of-the-conformance-tests'
export const APP = 'conform'
export const RUNNER = 'conform-1'

/** The handler behind the checks of version and signature. */
export function guarded(handler: Handler): Handler {
  return (invoke, record) => {
    const { 'x-engine-protocol': version = '1', 'x-engine-signature': signature = '' } = invoke.headers
    if (version !== '1') return refusal(400)
    return refusalOf(invoke.raw, String(signature)) ?? handler(invoke, record)
  }
}

function refusalOf(body: string, signature: string) {
  const parts = signature.split(',').map(part => part.split('=') as [string, string])
  const given = (name: string) => parts.filter(([key]) => key === name).map(([, value]) => value)
  const [t = '', recipient = ''] = [given('t')[0], given('r')[0]]
  const isFresh = Math.abs(Date.now() / 1000 - Number(t)) <= 300
  const mac = (prefix: string) => createHmac('sha256', SIGNING_KEY).update(`${prefix}${body}`).digest('hex')
  if (given('v2').length === 0) return isFresh && given('v1').includes(mac(`${t}.`)) ? undefined : refusal(401)
  if (!isFresh || !given('v2').includes(mac(`v2.invoke.${t}.${recipient}.`))) return refusal(401)
  const own = createHash('sha256').update(`${APP}\n${RUNNER}`).digest('hex')
  return recipient === own ? undefined : refusal(503)
}

function refusal(status: number) {
  return { status, body: { error: { message: 'refused' }, logs: [] } }
}
