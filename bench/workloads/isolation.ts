// ISOLATION: how soon a run of three steps ends in one namespace while another namespace causes the worst trouble it can: runs
// that wait for room on a Connect runner, invokes that hang, a flood at the highest priority. Each case has its own engine and
// runners.

import { WebSocket } from 'ws'
import { within } from '../../test/kit/until.ts'
import { Api, keyOf } from '../load/api.ts'
import { Loop } from '../load/loop.ts'
import { msOf, percentiles } from '../measure/latency.ts'
import type { Figures, Outcome } from '../report/report.ts'
import { frameOf } from '../rig/connect-runner.ts'
import type { BenchOptions } from '../rig/options.ts'
import { onRig, type Rig } from '../rig/rig.ts'
import { openServer } from '../rig/server.ts'
import { databaseName } from '../rig/store.ts'
import { answer, SEQUENCE_3 } from '../rig/workflows.ts'

const TRIES = 200
const TRY_MS_MAX = 30_000
const LOUD = 'loud'
const QUIET = 'quiet'

/** The namespace that disturbs: this many runs on a runner. Each pass takes `passMs`, or never ends without it. */
interface Adversary {
  over?: 'http' | 'connect'
  runs: number
  registration?: object
  passMs?: number
}

const ADVERSARIES: Readonly<Record<string, Adversary>> = {
  'nobody else': { runs: 0 },
  '1500 runs wait for one Connect runner': { over: 'connect', runs: 1500, passMs: 100 },
  '1100 invokes hang': { runs: 1100 },
  '3000 runs of priority 1,000,000': { runs: 3000, registration: { priority: '1000000' }, passMs: 100 },
}

export async function isolation(options: BenchOptions): Promise<Outcome> {
  const figures: Record<string, Figures> = {}
  const problems: string[] = []
  for (const [name, adversary] of Object.entries(ADVERSARIES)) {
    const setup = { kind: 'none', namespaces: [LOUD, QUIET] } as const
    const { times, ended } = await onRig(options, setup, rig => measure(rig, adversary))
    const lost = times.filter(ms => ms >= TRY_MS_MAX).length
    if (lost > 0) problems.push(`${name}: ${lost} of ${TRIES} runs did not end within ${TRY_MS_MAX} ms`)
    const { p50, p99, max } = percentiles(times)
    figures[name] = { 'p50 ms': p50, 'p99 ms': p99, 'max ms': max, 'passes of the other': ended }
  }
  const title = `${TRIES} runs of 3 steps, one at a time, beside another namespace, on ${databaseName(options)}`
  return { title, figures, problems }
}

async function measure(rig: Rig, adversary: Adversary): Promise<{ times: number[]; ended: number }> {
  const { url: origin } = rig.engine
  const [quiet, loud] = [new Api(origin, { namespace: QUIET }), new Api(origin, { namespace: LOUD })]
  let onFinished = () => {}
  const runner = await openServer((text, reply) => {
    const { status, body, isLast } = answer(JSON.parse(text))
    reply(status, body)
    if (isLast) onFinished()
  })
  await register(quiet, QUIET, { url: `${runner.origin}/invoke`, workflows: [{ name: SEQUENCE_3.name }] })
  const disturbing = await (adversary.over === 'connect'
    ? connectRunner(origin, adversary)
    : httpRunner(loud, adversary))
  const crowd = new Loop(32, () => loud.post('/events', { name: LOUD, data: {} }).then(() => 0), adversary.runs)
  await crowd.measureAll(TRY_MS_MAX * 10)
  if (crowd.problems.length > 0) throw new Error(crowd.problems[0])
  const times: number[] = []
  for (let n = 0; n < TRIES; n++) {
    const finished = new Promise<void>(resolve => {
      onFinished = resolve
    })
    const one = async () => {
      await quiet.post('/events', { name: SEQUENCE_3.name, data: { n } })
      await within(finished, `run ${n}`, TRY_MS_MAX).catch(() => {})
    }
    times.push(await msOf(one))
  }
  const ended = disturbing.ended()
  disturbing.close()
  runner.close()
  await Promise.all([quiet.close(), loud.close()])
  return { times, ended }
}

async function httpRunner(api: Api, { registration, passMs }: Adversary) {
  let ended = 0
  const server = await openServer((_, reply) => {
    if (passMs === undefined) return
    setTimeout(() => {
      ended++
      reply(200, '{"logs":[]}')
    }, passMs)
  })
  await register(api, LOUD, { url: `${server.origin}/invoke`, workflows: [{ name: LOUD, ...registration }] })
  return { ended: () => ended, close: () => server.close() }
}

async function connectRunner(origin: string, { passMs }: Adversary) {
  let ended = 0
  const headers = { authorization: `Bearer ${keyOf(LOUD)}` }
  const socket = new WebSocket(`${origin.replace('http', 'ws')}/connect`, 'engine.connect.v0', { headers })
  const send = (type: string, id: string, payload: object) => socket.send(frameOf(type, id, JSON.stringify(payload)))
  await new Promise<void>((resolve, reject) => {
    socket.on('error', reject)
    socket.on('open', () => {
      send('hello', 'hello', { protocolVersion: 1 })
      send('runner.register', 'register', { app: LOUD, runner: 'r1', workflows: [{ name: LOUD }], maxConcurrency: 1 })
    })
    socket.on('message', data => {
      const { type, id } = JSON.parse(String(data)) as { type: string; id: string }
      if (type === 'runner.registered') resolve()
      else if (type === 'error') reject(new Error(String(data)))
      else if (type === 'heartbeat') send('heartbeat.ack', id, {})
      else if (type === 'invoke')
        setTimeout(() => {
          ended++
          if (socket.readyState === WebSocket.OPEN) send('invoke.result', id, { status: 200, body: { logs: [] } })
        }, passMs)
    })
  })
  return { ended: () => ended, close: () => socket.terminate() }
}

function register(api: Api, app: string, fields: object): Promise<unknown> {
  return api.post('/register', { app, runner: `${app}-1`, protocolVersion: 1, ...fields })
}
