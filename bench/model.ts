// A queueing model of an engine under load. It reproduces the figures of W1 and FLOOD from the cost of each part: four threads on
// a number of cores, one batch of writes under way, a maximum of runs under way. bench/laboratory.md explains it. Run it with
// `node --import tsx bench/model.ts`.

/** CPU in us of one piece of work on each thread, and waits in us. Measured over Connect with the SDK's runner. */
const COST = {
  post: 45,
  accept: 55,
  pass: 42,
  /** Work of the engine's thread for a unit that has become durable: an answer to the sender, or the next invoke. */
  settle: 12,
  /** A run that was not leased in the commit of its event: a claim, a read, and its share of a second commit. */
  claim: 60,
  invoke: 68,
  unit: 17,
  /** A batch, without its units: CPU, and the disk. */
  batch: 150,
  fsync: 400,
  /** The answer of the writer, in the engine's thread. */
  answer: 0.1,
  /** Delay before a sleeping thread continues. */
  wake: 40,
  /** Collection and compilation in helper threads, for each us of the engine's thread. */
  helpers: 0.3,
}
const PASSES = 3
const BATCH_MAX = 512

/**
 * A thread takes all work that has arrived in one turn of its loop. It sends its messages after this much work, or at the end of
 * the turn.
 */
const SENT_TOGETHER = { load: 1, engine: 16, writer: 1, runner: 1000, helpers: 1 }

type Kind = keyof typeof SENT_TOGETHER
/** A kind and its number: there may be several engine threads, each with helpers, and several runners. */
type Thread = `${Kind} ${number}`

interface Work {
  us: number
  done(): void
}

interface Unit {
  /** The engine thread that wrote the unit. */
  of: number
  settled(): void
}

interface Queue {
  thread: Thread
  sentTogether: number
  busyUs: number
  works: Work[]
  /** The remaining work of the turn, and the completed work whose messages are not sent yet. */
  left: number
  unsent: (() => void)[]
}

/** Threads that share cores: each has a queue of work, and if more are busy than there are cores, all are slower. */
class Machine {
  now = 0
  /** Receives each piece of time in which a thread has work, on a core or not. */
  onBusy: (thread: Thread, us: number) => void = () => {}
  readonly #queues = new Map<Thread, Queue>()
  readonly #timers: { at: number; then(): void }[] = []
  readonly #cores: number

  constructor(cores: number) {
    this.#cores = cores
  }

  do(thread: Thread, us: number, done: () => void): void {
    const { works } = this.#queue(thread)
    if (works.length > 0) works.push({ us, done })
    else this.after(COST.wake, () => works.push({ us, done }))
  }

  after(us: number, then: () => void): void {
    const at = this.now + us
    let place = this.#timers.length
    while (place > 0 && (this.#timers[place - 1] as { at: number }).at > at) place--
    this.#timers.splice(place, 0, { at, then })
  }

  run(untilUs: number): void {
    while (this.now < untilUs) {
      const busy = [...this.#queues.values()].filter(({ works }) => works.length > 0)
      const rate = Math.min(1, this.#cores / busy.length)
      const nextTimer = (this.#timers[0]?.at ?? Number.POSITIVE_INFINITY) - this.now
      const least = Math.min(...busy.map(({ works }) => (works[0] as Work).us))
      const step = Math.min(nextTimer, least / rate)
      this.now += step
      for (const queue of busy) {
        const work = queue.works[0] as Work
        work.us -= step * rate
        queue.busyUs += step * rate
        this.onBusy(queue.thread, step)
        if (work.us <= 1e-6) this.#end(queue, work)
      }
      while ((this.#timers[0]?.at ?? Number.POSITIVE_INFINITY) <= this.now) this.#timers.shift()?.then()
    }
  }

  /** Returns the CPU time of each kind of thread so far. */
  busyUs(): Record<Kind, number> {
    const sums = { load: 0, engine: 0, writer: 0, runner: 0, helpers: 0 }
    for (const { thread, busyUs } of this.#queues.values()) sums[thread.split(' ')[0] as Kind] += busyUs
    return sums
  }

  #queue(thread: Thread): Queue {
    let queue = this.#queues.get(thread)
    if (!queue) {
      const sentTogether = SENT_TOGETHER[thread.split(' ')[0] as Kind]
      queue = { thread, sentTogether, busyUs: 0, works: [], left: 0, unsent: [] }
      this.#queues.set(thread, queue)
    }
    return queue
  }

  #end(queue: Queue, work: Work): void {
    if (queue.left === 0) queue.left = queue.works.length
    queue.works.shift()
    queue.left--
    queue.unsent.push(work.done)
    if (queue.left > 0 && queue.unsent.length < queue.sentTogether) return
    for (const send of queue.unsent.splice(0)) send()
  }
}

interface Load {
  senders: number
  /** A sender posts again when its run has ended, or when its post is answered. */
  until: 'ended' | 'accepted'
  /** Maximum number of posts accepted at once, and the same while the engine is full. */
  acceptsMax?: number
  fullAcceptsMax?: number
  /** Engine threads, each with a runner and a share of the runs, using one writer. */
  engines?: number
  cores?: number
}

/** Maximum number of runs under way in an engine. */
const RUNS_MAX = 1000

/** Engines, their runners and their senders on one machine. */
class Model {
  readonly machine: Machine
  accepted = 0
  ended = 0
  /** Runs that wait in the store. */
  backlog = 0
  readonly #load: Required<Load>
  #posted = 0
  #taken = 0
  #running = 0
  #isWriting = false
  readonly #atGate: (() => void)[] = []
  #units: Unit[] = []

  constructor(load: Load) {
    const { acceptsMax = Number.POSITIVE_INFINITY } = load
    this.#load = { acceptsMax, fullAcceptsMax: acceptsMax, engines: 1, cores: 2, ...load }
    this.machine = new Machine(this.#load.cores)
    for (let i = 0; i < load.senders; i++) this.#post()
  }

  #post(): void {
    const of = this.#posted++ % this.#load.engines
    this.machine.do('load 0', COST.post, () => {
      this.#atGate.push(() => this.#engine(of, COST.accept, () => this.#commit(of, () => this.#accept(of))))
      this.#openGate()
    })
  }

  #openGate(): void {
    const { acceptsMax, fullAcceptsMax } = this.#load
    while (this.#atGate.length > 0 && this.#taken < (this.#isFull() ? fullAcceptsMax : acceptsMax)) {
      this.#taken++
      this.#atGate.shift()?.()
    }
  }

  #isFull(): boolean {
    return this.#running >= RUNS_MAX * this.#load.engines
  }

  #accept(of: number): void {
    this.#taken--
    this.accepted++
    if (this.#load.until === 'accepted') this.#post()
    if (this.#isFull()) this.backlog++
    else this.#start(of, false)
    this.#openGate()
  }

  #start(of: number, isClaimed: boolean): void {
    this.#running++
    if (isClaimed) this.#engine(of, COST.claim, () => this.#commit(of, () => this.#pass(of, 1)))
    else this.#pass(of, 1)
  }

  #pass(of: number, n: number): void {
    this.machine.do(`runner ${of}`, COST.invoke, () => {
      const isLast = n === PASSES
      if (isLast && this.#load.until === 'ended') this.#post()
      const next = () => (isLast ? this.#end(of) : this.#pass(of, n + 1))
      this.#engine(of, COST.pass, () => this.#commit(of, next))
    })
  }

  #end(of: number): void {
    this.ended++
    this.#running--
    if (this.backlog === 0) return
    this.backlog--
    this.#start(of, true)
  }

  #engine(of: number, us: number, done: () => void): void {
    this.machine.do(`helpers ${of}`, us * COST.helpers, () => {})
    this.machine.do(`engine ${of}`, us, done)
  }

  #commit(of: number, settled: () => void): void {
    this.#units.push({ of, settled })
    if (!this.#isWriting) this.#write()
  }

  /** Begins the next batch when the engine's thread has the answer to the last one, before the callers of that batch continue. */
  #write(): void {
    const batch = this.#units.splice(0, BATCH_MAX)
    const [first] = batch
    this.#isWriting = first !== undefined
    if (!first) return
    const answered = () => {
      this.#write()
      for (const { of, settled } of batch) this.#engine(of, COST.settle, settled)
    }
    const written = () => this.machine.after(COST.fsync, () => this.#engine(first.of, COST.answer, answered))
    this.machine.do('writer 0', COST.batch + batch.length * COST.unit, written)
  }
}

/** Returns the rates and the shares of a core during this many seconds, after a second of warm-up. */
function simulate(load: Load, seconds = 10) {
  const model = new Model(load)
  const { machine } = model
  machine.run(1e6)
  const before = { accepted: model.accepted, ended: model.ended, busyUs: machine.busyUs() }
  machine.run((1 + seconds) * 1e6)
  const shares = Object.entries(machine.busyUs()).map(([kind, us]): [string, number] => [
    `${kind} %`,
    (us - before.busyUs[kind as Kind]) / (seconds * 1e4),
  ])
  const busy = shares.reduce((sum, [, share]) => sum + share, 0)
  const figures = {
    'accepted/s': (model.accepted - before.accepted) / seconds,
    'ended/s': (model.ended - before.ended) / seconds,
    'idle % of all cores': 100 - busy / (load.cores ?? 2),
    ...Object.fromEntries(shares),
    backlog: model.backlog,
  }
  return Object.fromEntries(Object.entries(figures).map(([name, figure]) => [name, Math.round(figure)]))
}

/** Draws four threads over 50 ms: a sign for each half of a millisecond, `#` if the thread had work for most of it. */
function timeline(load: Load): string {
  const { machine } = new Model(load)
  machine.run(1e6)
  const busy = { engine: slots(), writer: slots(), runner: slots(), load: slots() }
  machine.onBusy = (thread, us) => {
    const kind = thread.split(' ')[0] as Kind
    const at = Math.floor((machine.now - 1e6 - us / 2) / SLOT_US)
    if (kind !== 'helpers' && at < SLOTS) busy[kind][at] = (busy[kind][at] ?? 0) + us
  }
  machine.run(1e6 + SLOTS * SLOT_US)
  const line = (us: number[]) => us.map(one => (one > SLOT_US / 2 ? '#' : '.')).join('')
  return Object.entries(busy)
    .map(([kind, us]) => `${kind.padEnd(7)} ${line(us)}`)
    .join('\n')
}

const SLOT_US = 500
const SLOTS = 100
const slots = () => Array.from({ length: SLOTS }, () => 0)

const FLOOD = { senders: 1000, until: 'accepted' } as const
console.table({
  'W1, 100 in flight': simulate({ senders: 100, until: 'ended' }),
  'W1, 300 in flight': simulate({ senders: 300, until: 'ended' }),
  'the same, 100 taken in at once': simulate({ senders: 300, until: 'ended', acceptsMax: 100 }),
  'flood, no bound': simulate(FLOOD),
  'flood, 100 and 32 at once': simulate({ ...FLOOD, acceptsMax: 100, fullAcceptsMax: 32 }),
  'flood, 400 at once': simulate({ ...FLOOD, acceptsMax: 400 }),
  'W1 on 8 cores, 300 in flight': simulate({ senders: 300, until: 'ended', cores: 8 }),
  'the same, 2 engine threads': simulate({ senders: 300, until: 'ended', cores: 8, engines: 2 }),
  'the same, 4 engine threads': simulate({ senders: 600, until: 'ended', cores: 8, engines: 4 }),
})
console.log(timeline({ senders: 100, until: 'ended' }))
