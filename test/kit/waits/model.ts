// The model of a program of waits, by the rule of docs/events.md#waits alone: a wait sees the oldest event of its name that the
// handler had not been given when it called the wait. The model goes through the steps in the order in which they were stored,
// and does not know passes, memos and promises.

import type { Leaf, Node } from './program.ts'

export interface LoggedEvent {
  id: string
  name: string
  at: number
}

/** A step as it was stored, in the order of settling. */
export interface SettledStep {
  path: string
  /** The event that settled a wait. */
  eventId?: string
  /** When the step was first stored. */
  startedAt: number
}

export interface History {
  prefix: string
  /** In the order of the log, without the trigger. */
  log: readonly LoggedEvent[]
  settled: readonly SettledStep[]
  /** Waits that nothing settled. */
  open: readonly string[]
  endedAt: number
}

/** A group of calls that a branch waits for. */
interface Group {
  kind: 'race' | 'all'
  paths: string[]
}

interface Branch {
  body: Generator<Group, void, string>
  group: Group
  /** Called when the branch has ended. */
  ended: () => void
}

export class Model {
  readonly trace: string[] = []
  readonly problems: string[] = []
  readonly #history: History
  readonly #given = new Set<string>()
  /** The events that had been given when a wait was called, by path. */
  readonly #asked = new Map<string, { leaf: Leaf; given: ReadonlySet<string>; turn: number }>()
  readonly #released = new Map<string, string>()
  readonly #waiting = new Set<Branch>()
  #turn = 0

  constructor(program: Node, history: History) {
    this.#history = history
    this.#start(this.#play(program, '0'), () => {})
    for (const step of history.settled) this.#release(step)
    if (this.#waiting.size > 0) this.problems.push('the handler could not have ended')
    for (const path of history.open) this.#checkOpen(path)
    this.#checkOrder()
  }

  *#play(node: Node, path: string): Generator<Group, void, string> {
    switch (node.kind) {
      case 'race':
      case 'any':
      case 'all': {
        const paths = node.leaves.map((leaf, i) => this.#ask(leaf, `${path}.${i}`))
        this.trace.push(`${path} ${yield { kind: node.kind === 'all' ? 'all' : 'race', paths }}`)
        return
      }
      case 'twice': {
        const kept = this.#ask(node.wait, `${path}.w`)
        for (const [i, run] of node.runs.entries()) {
          const paths = [kept, this.#ask(run, `${path}.${i}`)]
          this.trace.push(`${path}.${i} ${yield { kind: 'race', paths }}`)
        }
        return
      }
      case 'branches': {
        let left = node.nodes.length
        const join = `${path} join`
        for (const [i, one] of node.nodes.entries())
          this.#start(this.#play(one, `${path}.${i}`), () => {
            left--
            if (left === 0) this.#settle(join, '')
          })
        yield { kind: 'all', paths: [join] }
        return
      }
      case 'seq':
        for (const [i, one] of node.nodes.entries()) yield* this.#play(one, `${path}.${i}`)
        return
      case 'loop':
        for (let i = 0; i < node.count; i++) yield* this.#play(node.body, `${path}.${i}`)
    }
  }

  #ask(leaf: Leaf, path: string): string {
    this.#asked.set(path, { leaf, given: new Set(this.#given), turn: this.#turn })
    return path
  }

  #start(body: Branch['body'], ended: () => void): void {
    this.#goOn({ body, ended, group: { kind: 'all', paths: [] } }, '')
  }

  #goOn(branch: Branch, value: string): void {
    const { done, value: group } = branch.body.next(value)
    if (done) {
      branch.ended()
      return
    }
    branch.group = group
    this.#waiting.add(branch)
    this.#offer(branch)
  }

  /** Lets the branch continue if everything that it waits for is there. */
  #offer(branch: Branch): void {
    const { kind, paths } = branch.group
    const there = paths.filter(path => this.#released.has(path))
    if (there.length === 0 || (kind === 'all' && there.length < paths.length)) {
      if (kind === 'all') for (const path of there) this.#give(path)
      return
    }
    const got = kind === 'all' ? paths : there.slice(0, 1)
    for (const path of got) this.#give(path)
    this.#waiting.delete(branch)
    this.#goOn(branch, got.map(path => this.#released.get(path)).join(','))
  }

  #give(path: string): void {
    const { leaf } = this.#asked.get(path) ?? {}
    if (leaf?.kind === 'wait') this.#given.add(this.#released.get(path) as string)
  }

  #release({ path, eventId, startedAt }: SettledStep): void {
    this.#turn++
    const asked = this.#asked.get(path)
    if (!asked) return void this.problems.push(`${path} settled before it could be asked for`)
    if (asked.leaf.kind === 'wait') this.#check(path, asked.leaf, asked.given, { eventId, startedAt })
    this.#settle(path, eventId ?? path)
  }

  #settle(path: string, value: string): void {
    this.#released.set(path, value)
    for (const branch of [...this.#waiting]) if (branch.group.paths.includes(path)) this.#offer(branch)
  }

  #check(
    path: string,
    leaf: Extract<Leaf, { kind: 'wait' }>,
    given: ReadonlySet<string>,
    { eventId, startedAt }: Pick<SettledStep, 'eventId' | 'startedAt'>,
  ): void {
    const name = this.#history.prefix + leaf.event
    const seen = this.#history.log.filter(event => event.name === name && !given.has(event.id))
    // Events of the millisecond in which the wait was stored may have come before it or after.
    const first =
      leaf.since === 'run' ? seen[0] : seen.find(({ at, id }) => at > startedAt || (at === startedAt && id === eventId))
    if (first?.id !== eventId)
      this.problems.push(`${path} waited for ${name} (${leaf.since}) and got ${eventId}, not ${first?.id}`)
  }

  #checkOpen(path: string): void {
    const { leaf, given } = this.#asked.get(path) ?? {}
    if (leaf?.kind !== 'wait' || leaf.since === 'now' || !given) return
    const name = this.#history.prefix + leaf.event
    const missed = this.#history.log.find(
      event => event.name === name && !given.has(event.id) && event.at < this.#history.endedAt,
    )
    if (missed) this.problems.push(`${path} waited for ${name} and did not get ${missed.id}`)
  }

  /** Waits of the same moment, whose events were already there, settle in the order of the log. */
  #checkOrder(): void {
    const last = new Map<number, number>()
    for (const { path, eventId, startedAt } of this.#history.settled) {
      const position = this.#history.log.findIndex(({ id }) => id === eventId)
      const turn = this.#asked.get(path)?.turn
      if (turn === undefined || position < 0) continue
      if ((this.#history.log[position] as LoggedEvent).at >= startedAt) continue
      if (position < (last.get(turn) ?? -1)) this.problems.push(`${path} settled after a later event`)
      last.set(turn, position)
    }
  }
}
