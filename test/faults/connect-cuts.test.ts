// A Connect socket that is cut at every frame of a run of three steps: the runner dials again, says what it still
// works on, sends again what was not acknowledged, and the run ends as if nothing had been.

import { expect, test } from 'vitest'
import { flow, type Invoke, type Reply, RunnerRecord, run, scenario, unique, until } from '../kit/index.ts'
import { type ClientFrame, ConnectClient } from '../kit/runner/connect-client.ts'

const { api, url } = await scenario({ realTime: true })
const STEPS = ['one', 'two', 'three']

interface Cut {
  /** The frame, counted over all sockets and both directions, at which the socket is cut once. */
  at: number
  /** Whether that frame is lost for sure, or was handed over a moment before. */
  lost: boolean
}

/** A runner that dials until its run is over, and whose first socket is cut once. */
class CutRunner {
  readonly record = new RunnerRecord()
  readonly name = unique('cut')
  frames = 0
  wasCut = false
  readonly #cut: Cut
  readonly #handler = flow(STEPS.map(name => run(name)))
  /** Invokes it works on, and results that were not acknowledged. */
  readonly #underWay = new Set<string>()
  readonly #results = new Map<string, Reply>()
  #client: ConnectClient | undefined
  #isOver = false

  constructor(cut: Cut) {
    this.#cut = cut
  }

  dial(): void {
    const client = new ConnectClient(url)
    this.#client = client
    client.onFrame = frame => this.#pass(client, () => this.#take(client, frame))
    client.ws.on('close', () => {
      if (!this.#isOver) this.dial()
    })
    client.ws.on('open', () => {
      this.#pass(client, () => client.send('hello', { protocolVersion: 1, instance: 'only' }))
      const underWay = [...this.#underWay, ...this.#results.keys()]
      const registration = { app: this.name, runner: 'r', workflows: [{ name: this.name }], underWay }
      this.#pass(client, () => client.send('runner.register', registration))
    })
  }

  hangUp(): void {
    this.#isOver = true
    this.#client?.ws.terminate()
  }

  /** One frame, in or out; the socket is cut before or after the one that is meant. */
  #pass(client: ConnectClient, through: () => void): void {
    if (!client.isOpen) return
    const isCut = !this.wasCut && ++this.frames === this.#cut.at
    if (isCut) this.wasCut = true
    if (!isCut || !this.#cut.lost) through()
    // What was handed over may have got through or not: nobody knows, as after any cut.
    if (isCut) client.ws.terminate()
  }

  #take(client: ConnectClient, { type, id, payload, text }: ClientFrame): void {
    if (type === 'result.ack') this.#results.delete(id)
    if (type === 'invoke.cancel') this.#underWay.delete(id)
    if (type === 'runner.registered') for (const known of this.#results.keys()) this.#send(client, known)
    if (type === 'invoke') void this.#answer(id, payload, text)
  }

  async #answer(id: string, payload: Record<string, unknown>, raw: string): Promise<void> {
    this.#underWay.add(id)
    const { signal } = new AbortController()
    const rest = { receivedBy: 'r', headers: {}, method: '', path: '', raw, signal }
    const invoke = this.record.received({ ...(payload as unknown as Invoke), ...rest })
    const reply = await this.#handler(invoke, this.record)
    this.#underWay.delete(id)
    this.#results.set(id, reply)
    if (this.#client) this.#send(this.#client, id)
  }

  #send(client: ConnectClient, id: string): void {
    const reply = this.#results.get(id)
    if (reply === undefined || typeof reply === 'function') return
    this.#pass(client, () => client.result(id, reply.status, JSON.stringify(reply.body)))
  }
}

/** Steps that were executed although an earlier pass had been shown their result. */
function executedAgain(record: RunnerRecord, runId: string): string[] {
  return record.executed
    .filter(step => step.runId === runId)
    .filter(({ id, pass }) =>
      record.of(runId).some(invoke => invoke.pass < pass && invoke.steps[id] !== undefined),
    )
    .map(({ name }) => name)
}

// hello and runner.register, their answers, and four times invoke, result and its acknowledgement.
const FRAMES = 16
const CUTS = Array.from({ length: FRAMES }, (_, i) => [
  { at: i + 1, lost: false },
  { at: i + 1, lost: true },
]).flat()

test('a run survives a cut at any of its frames', async () => {
  const endings = await Promise.all(
    CUTS.map(async cut => {
      const runner = new CutRunner(cut)
      runner.dial()
      await until(async () => ((await api.get(`/workflows?app=${runner.name}`)).json as unknown[]).length > 0)
      const { runId } = await api.send({ name: runner.name })
      const { result } = await api.succeeded(runId)
      await until(() => runner.wasCut, { what: `frame ${cut.at}` })
      runner.hangUp()
      return { cut, result, again: executedAgain(runner.record, runId), ran: runner.record.names(runId) }
    }),
  )
  for (const { cut, result, again, ran } of endings) {
    const told = JSON.stringify(cut)
    expect(result, told).toEqual({ one: 'one', two: 'two', three: 'three' })
    expect(again, told).toEqual([])
    // A result that was sent, or is sent again, is never computed twice: only a lost invoke is repeated, unexecuted.
    expect(ran, told).toEqual(STEPS)
  }
})
