// Cuts a Connect socket at every frame of a run of three steps. The runner dials again, reports the invokes it still
// works on, sends unacknowledged results again, and the run ends as if the socket had not been cut.

import type { Run } from '@perdure/protocol'
import { expect, test } from 'vitest'
import { flow, type Invoke, type Reply, RunnerRecord, run, scenario, unique, until, wakesAt } from '../kit/index.ts'
import { type ClientFrame, ConnectClient } from '../kit/runner/connect-client.ts'

// The clock stands still during a cut: on a busy machine the runner may take longer to dial again than the engine waits, and
// the engine would rightly repeat the invoke.
const { api, url, clock } = await scenario()
const STEPS = ['one', 'two', 'three']

interface Cut {
  /** The number of the frame at which the socket is cut once, counted over all sockets and both directions. */
  at: number
  /** Whether the cut is before the sending of the frame, so that it is surely lost, or just after. */
  lost: boolean
}

/** A runner that dials until its run has ended. Its first socket is cut once. */
class CutRunner {
  readonly record = new RunnerRecord()
  readonly name = unique('cut')
  frames = 0
  wasCut = false
  isRegistered = false
  readonly #cut: Cut
  readonly #handler = flow(STEPS.map(name => run(name)))
  /** The invokes that the runner works on, and its unacknowledged results. */
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
      this.isRegistered = false
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

  /** Counts one frame, in or out, and cuts the socket before or after the chosen one. */
  #pass(client: ConnectClient, through: () => void): void {
    if (!client.isOpen) return
    const isCut = !this.wasCut && ++this.frames === this.#cut.at
    if (isCut) this.wasCut = true
    if (!isCut || !this.#cut.lost) through()
    // A frame that was sent before the cut may have arrived or not, as after any cut.
    if (isCut) client.ws.terminate()
  }

  #take(client: ConnectClient, { type, id, payload, text }: ClientFrame): void {
    if (type === 'result.ack') this.#results.delete(id)
    if (type === 'invoke.cancel') this.#underWay.delete(id)
    if (type === 'runner.registered') {
      this.isRegistered = true
      for (const known of this.#results.keys()) this.#send(client, known)
    }
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

/** Steps that were executed although an earlier pass had carried their result. */
function executedAgain(record: RunnerRecord, runId: string): string[] {
  return record.executed
    .filter(step => step.runId === runId)
    .filter(({ id, pass }) => record.of(runId).some(invoke => invoke.pass < pass && invoke.steps[id] !== undefined))
    .map(({ name }) => name)
}

/** The run once it has ended. Jumps over its waits for another try, because the cut took an invoke, or came before one. */
function ended(runId: string, runner: CutRunner): Promise<Run> {
  return until(async () => {
    const run = await api.run(runId)
    if (run.waitingFor?.until && runner.isRegistered) clock.jumpTo(Math.max(clock.now(), wakesAt(run)))
    return run.finishedAt !== undefined && run
  })
}

// hello and runner.register, their answers, and four times an invoke, its result and the acknowledgement.
const FRAMES = 16
const CUTS = Array.from({ length: FRAMES }, (_, i) => [
  { at: i + 1, lost: false },
  { at: i + 1, lost: true },
]).flat()

test.each(CUTS)('a run survives a cut at frame $at, lost: $lost', async cut => {
  const runner = new CutRunner(cut)
  runner.dial()
  await until(async () => ((await api.get(`/workflows?app=${runner.name}`)).json as unknown[]).length > 0)
  const { runId } = await api.send({ name: runner.name })
  const { status, result } = await ended(runId, runner)
  await until(() => runner.wasCut)
  runner.hangUp()
  expect(status).toBe('succeeded')
  expect(result).toEqual({ one: 'one', two: 'two', three: 'three' })
  expect(executedAgain(runner.record, runId)).toEqual([])
  // A result that was sent, or is sent again, is never computed twice. Only a lost invoke is repeated, and its step was not
  // executed.
  expect(runner.record.names(runId)).toEqual(STEPS)
})
