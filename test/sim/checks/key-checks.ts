// Checks the keys of live runs at every commit: among the live runs of a workflow, a singleton's key and the key of a direct
// start occur once (docs/flow-control.md#singleton, docs/concepts.md#one-live-run-per-key).

import type { Unit } from '../../../packages/engine/src/domain/model/change.ts'
import type { Run } from '../../../packages/engine/src/domain/model/run.ts'
import { ensure } from '../core/violation.ts'
import type { WorkflowSpec } from '../workload/program.ts'
import { isEnded } from './record.ts'

interface Holder {
  runId: string
  chainId: string
  /** The keys by name. `untilEnd`: a request to cancel the run does not free the key. */
  keys: { name: string; untilEnd: boolean }[]
}

export class LiveKeys {
  readonly #specs: readonly WorkflowSpec[]
  readonly #holders = new Map<string, Holder>()

  constructor(specs: readonly WorkflowSpec[]) {
    this.#specs = specs
  }

  applied({ changes }: Unit): void {
    let isNew = false
    for (const change of changes) {
      if (change.type === 'run.created' && !isEnded(change.run)) isNew = this.#take(change.run) || isNew
      if (change.type === 'run.moved' && isEnded(change.run)) this.#holders.delete(change.run.id)
      else if (change.type === 'run.moved' && change.run.cancelRequested) this.#free(change.run.id)
      if (change.type === 'run.cancelRequested') this.#free(change.runId)
    }
    if (isNew) this.#check()
  }

  /** Returns whether the run has a key. */
  #take(run: Run): boolean {
    const { id, namespace, app, workflow, startKey, singletonKey, chainId = id } = run
    const of = `${namespace} ${app} ${workflow}`
    const mode = this.#specs.find(spec => spec.name === workflow && spec.app === app)?.singleton?.mode
    const all = [
      ...(startKey === undefined ? [] : [{ name: `start ${of} ${startKey}`, untilEnd: false }]),
      ...(singletonKey === undefined
        ? []
        : [{ name: `singleton ${of} ${singletonKey}`, untilEnd: mode === 'deliver' }]),
    ]
    const keys = run.cancelRequested ? all.filter(({ untilEnd }) => untilEnd) : all
    if (keys.length > 0) this.#holders.set(id, { runId: id, chainId, keys })
    return keys.length > 0
  }

  /** A request to cancel a run reaches the newest of its chain. */
  #free(id: string): void {
    for (const holder of this.#holders.values())
      if (holder.runId === id || holder.chainId === id) holder.keys = holder.keys.filter(({ untilEnd }) => untilEnd)
  }

  #check(): void {
    const taken = new Map<string, string>()
    for (const { runId, keys } of this.#holders.values()) {
      for (const { name } of keys) {
        const other = taken.get(name)
        const detail = () => `${name}: ${other} and ${runId}`
        ensure(other === undefined, 'a key has one live run', detail, [runId, other ?? ''])
        taken.set(name, runId)
      }
    }
  }
}
