// Runs whose states do not fit into the memory of an engine at once (docs/limits.md#memory): they wait for each other, small
// ones overtake them, and each of them ends.

import { expect, test } from 'vitest'
import { type Api, flow, run, scenario, serveToTheEnd, sleep, unique, until } from '../../kit/index.ts'
import { openRunner } from '../../kit/runner/runner.ts'

const MINUTE = 60_000
const KB = 1024
const MEMORY = 64 * KB
/** One such run needs half of the memory. */
const LARGE = 'x'.repeat(30 * KB)

async function open() {
  const { engine, clock } = await scenario({ bounds: { stateBytesMax: MEMORY, messageBytesMax: MEMORY } })
  const serve = async (handler: ReturnType<typeof flow>) => {
    const name = unique('workflow')
    const runner = await openRunner({ workflows: { [name]: handler } })
    await runner.register(engine.api)
    return { name, record: runner.record }
  }
  return { api: engine.api, clock, serve }
}

async function sendMany(api: Api, name: string, count: number): Promise<string[]> {
  return Promise.all(Array.from({ length: count }, async () => (await api.send({ name })).runId))
}

async function waitingOf(api: Api): Promise<number> {
  const { text } = await api.get('/metrics')
  return Number(/perdure_memory_waiting\{use="state"\} (\d+)/.exec(text)?.[1])
}

test('large runs that are due go one after the other, and a small one past those that wait', async () => {
  const { api, clock, serve } = await open()
  const passes: (() => void)[] = []
  const hold = () => new Promise<void>(resolve => passes.push(resolve))
  const large = await serve(flow([run('one', () => LARGE), sleep('nap', MINUTE), run('two', hold)]))
  const small = await serve(flow([run('one'), run('two')]))
  const ids = await sendMany(api, large.name, 3)
  for (const id of ids) await api.reaches(id, 'waiting')
  clock.jump(MINUTE)
  await until(async () => passes.length === 1 && (await waitingOf(api)) === 2)
  await api.succeeded((await api.send({ name: small.name })).runId)
  const sentences = await Promise.all(
    ids.map(async id => (await api.get(`/runs/${id}/why`)).json as { sentence: string }),
  )
  const waiting = sentences.filter(({ sentence }) => sentence.includes('waits for memory'))
  expect(waiting).toHaveLength(2)
  expect(waiting[0]?.sentence).toContain('its state of 0.0 MB does not fit')
  for (let i = 1; i <= ids.length; i++) {
    await until(() => passes.length === i)
    passes[i - 1]?.()
  }
  for (const id of ids) await api.succeeded(id)
  expect(await waitingOf(api)).toBe(0)
})

test('a run that is larger than the memory ends, and so do runs that outgrow it together', async () => {
  const { api, serve } = await open()
  const steps = (chars: number) => flow(Array.from({ length: 6 }, (_, i) => run(`step-${i}`, () => 'x'.repeat(chars))))
  const large = await serve(steps(30 * KB))
  const middle = await serve(steps(4 * KB))
  const ids = [...(await sendMany(api, large.name, 4)), ...(await sendMany(api, middle.name, 20))]
  for (const id of ids) await api.succeeded(id)
  for (const { record } of [large, middle])
    expect(new Set(record.executed.map(({ runId, name }) => `${runId} ${name}`)).size).toBe(record.executed.length)
})

test('a heap that is too small for an engine is one line with the remedy', async () => {
  const { code, stderr } = await serveToTheEnd({ env: { NODE_OPTIONS: '--max-old-space-size=64' } })
  expect(code).toBe(2)
  expect(stderr).toMatch(
    /^perdure: the heap of Node has \d+ MB, and an engine needs 128: start it with NODE_OPTIONS=--max-old-space-size=256.*\n$/,
  )
})
