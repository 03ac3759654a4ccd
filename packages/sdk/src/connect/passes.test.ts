// `Passes`: frames are kept until the engine acknowledges them. The test controls the handler.

import { expect, onTestFinished, test, vi } from 'vitest'
import type { Answer } from '../replay/answer.ts'
import type { InvokeOptions } from '../replay/invoke.ts'
import type { Handler } from '../runner/handler.ts'
import { Passes } from './passes.ts'

const report = { opcodes: '[]', logs: '[]' }
const ack = (seq: number, fields: object = {}) => ({ seq, steps: [], ...fields })

interface Played {
  options: InvokeOptions
  end(body?: string): Promise<void>
}

/** Passes with a handler that the test controls. */
function play(checkpoints = true) {
  const played: Played[] = []
  const handler = {
    invoke: (_request: unknown, options: InvokeOptions) =>
      new Promise<Answer>(resolve => {
        played.push({
          options,
          async end(body = '{}') {
            resolve({ status: 200, body })
            await new Promise(setImmediate)
          },
        })
      }),
  } as unknown as Handler
  const passes = new Passes(handler)
  const sent: string[] = []
  const outlet = { send: (frame: string) => void sent.push(frame) }
  return {
    passes,
    sent,
    outlet,
    start(id: string, request: object = {}): Played {
      passes.start(id, request, outlet, checkpoints)
      return played.at(-1) as Played
    },
  }
}

const checkpoint = (id: string, seq: number) =>
  `{"type":"invoke.checkpoint","id":"${id}","payload":{"seq":${seq},"opcodes":[],"logs":[]}}`
const result = (id: string) => `{"type":"invoke.result","id":"${id}","payload":{"status":200,"body":{}}}`

test('a checkpoint resolves with its own acknowledgement', async () => {
  const { passes, sent, start } = play()
  const { options } = start('i1')
  const [first, second] = [options.checkpoint?.(report), options.checkpoint?.(report)]
  expect(sent).toEqual([checkpoint('i1', 1), checkpoint('i1', 2)])
  passes.checkpointAcknowledged('i1', ack(2, { steps: [{ id: 's' }], stop: true }))
  passes.checkpointAcknowledged('i1', ack(1))
  expect(await second).toEqual({ steps: [{ id: 's' }], stop: true })
  expect(await first).toEqual({ steps: [], stop: false })
})

test('unacknowledged frames are kept in the order in which they were sent', async () => {
  const { passes, outlet, start } = play()
  const one = start('i1')
  const two = start('i2')
  for (let n = 0; n < 3; n++) one.options.checkpoint?.(report)
  two.options.checkpoint?.(report)
  await two.end()
  passes.checkpointAcknowledged('i1', ack(1))
  expect(passes.unacknowledged(outlet)).toEqual([
    checkpoint('i1', 2),
    checkpoint('i1', 3),
    checkpoint('i2', 1),
    result('i2'),
  ])
  expect(passes.underWay(outlet)).toEqual(['i1', 'i2'])
  passes.acknowledged('i2')
  passes.checkpointAcknowledged('i1', ack(2))
  passes.checkpointAcknowledged('i1', ack(3))
  expect(passes.unacknowledged(outlet)).toEqual([])
  expect(passes.underWay(outlet)).toEqual(['i1'])
})

test('a cancelled pass rejects its checkpoints and drops its result', async () => {
  const { passes, sent, outlet, start } = play()
  const pass = start('i1')
  const open = pass.options.checkpoint?.(report)
  passes.cancel('i1')
  await expect(open).rejects.toThrow('The engine cancelled the invoke')
  expect(pass.options.cancellation?.cancelled).toBe(true)
  await expect(pass.options.checkpoint?.(report)).rejects.toThrow('The invoke has ended')
  await pass.end()
  expect(sent).toHaveLength(1)
  expect(passes.unacknowledged(outlet)).toEqual([])
  await passes.idle(outlet)
})

test('an engine that cleans up takes the result of a cancelled pass, until it cancels again', async () => {
  const { passes, sent, start } = play()
  const request = { ctx: { features: ['cleanup'] } }
  const pass = start('i1', request)
  passes.cancel('i1')
  expect(pass.options.cancellation?.cancelled).toBe(true)
  void pass.options.checkpoint?.(report)
  await pass.end()
  expect(sent).toEqual([checkpoint('i1', 1), result('i1')])
  const other = start('i2', request)
  passes.cancel('i2')
  passes.cancel('i2')
  await other.end()
  expect(sent).toHaveLength(2)
})

test('a cancelled pass is given up when the engine takes no late result any more', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const { passes, sent, start } = play()
  const pass = start('i1', { ctx: { features: ['cleanup'] } })
  passes.cancel('i1')
  vi.advanceTimersByTime(10_000)
  await pass.end()
  expect(sent).toEqual([])
})

test('an id that is used again names a new pass: another engine counts from the start', async () => {
  const { passes, sent, outlet, start } = play()
  const old = start('i1')
  const fresh = start('i1')
  expect(old.options.cancellation?.cancelled).toBe(true)
  await old.end('{"data":"old"}')
  expect(sent).toEqual([])
  await fresh.end()
  expect(sent).toEqual([result('i1')])
  start('i1')
  expect(passes.underWay(outlet)).toEqual(['i1'])
})

test('idle means that nothing runs and every result is acknowledged', async () => {
  const { passes, outlet, start } = play()
  const pass = start('i1')
  let idle = false
  const waiting = passes.idle(outlet).then(() => {
    idle = true
  })
  await pass.end()
  expect(idle).toBe(false)
  passes.acknowledged('i1')
  await waiting
})

test('kept results are bounded: the oldest are dropped first', async () => {
  const { passes, outlet, start } = play()
  const body = JSON.stringify({ data: 'x'.repeat(1024 * 1024 - 200) })
  for (let n = 0; n < 70; n++) await start(`i${n}`).end(body)
  const kept = passes.underWay(outlet)
  expect(kept.length).toBeGreaterThan(60)
  expect(kept.length).toBeLessThan(66)
  expect(kept.at(-1)).toBe('i69')
})

test('abandon cancels the passes of one socket and drops their results', async () => {
  const { passes, outlet, start } = play()
  const other = { send: () => undefined }
  const pass = start('i1')
  await start('i2').end()
  passes.start('i3', {}, other, true)
  passes.abandon(outlet, new Error('gone'))
  expect(pass.options.cancellation?.cancelled).toBe(true)
  expect(passes.underWay(outlet)).toEqual([])
  expect(passes.underWay(other)).toEqual(['i3'])
})

test('a notice of running callbacks is a checkpoint of its own, whose receipt nobody waits for', async () => {
  const { passes, sent, start } = play()
  const { options } = start('i1')
  options.running?.tell(',"running":[]')
  expect(sent).toEqual([checkpoint('i1', 1).replace('"logs":[]', '"logs":[],"running":[]')])
  expect(options.running?.afterMs).toBe(500)
  passes.cancel('i1')
  expect(play(false).start('i1').options.running).toBeUndefined()
})
