// FLOOD: runs that end while a thousand senders post without pause, as a share of what the same engine achieves with a hundred
// runs in flight; and how soon a sender of another namespace is answered in the meantime.

import { setTimeout as pause } from 'node:timers/promises'
import { Api } from '../load/api.ts'
import { Loop, measured } from '../load/loop.ts'
import { Runs, verify } from '../load/runs.ts'
import { type CpuUse, secondsOf } from '../measure/cpu-meter.ts'
import { msOf, percentiles } from '../measure/latency.ts'
import { cpuFigures, type Figures, type Outcome } from '../report/report.ts'
import type { BenchOptions, Over } from '../rig/options.ts'
import { onRig, type Rig } from '../rig/rig.ts'
import { databaseName } from '../rig/store.ts'
import { SEQUENCE_3 } from '../rig/workflows.ts'

const SENDERS = 1000
const CALM_IN_FLIGHT = 100
const WARM_UP_RUNS = 5000
/** The flood lasts this many windows: a minute by default. */
const FLOOD_WINDOWS = 6
/** Pause of the other sender between two posts. */
const OTHER_PAUSE_MS = 20

const OWN = 'own'
const OTHER = 'other'

/** Measures each transport with the SDK's runner. */
export async function flood(options: BenchOptions): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  for (const over of options.over) outcomes.push(await floodOver(options, over))
  return outcomes
}

function floodOver(options: BenchOptions, over: Over): Promise<Outcome> {
  return onRig(options, { over, kind: 'sdk', namespaces: [OWN, OTHER] }, async rig => {
    const other = otherSender(rig)
    const calm = new Runs(rig, SEQUENCE_3)
    const calmLoop = new Loop(CALM_IN_FLIGHT, () => calm.one())
    await calmLoop.warmUp(WARM_UP_RUNS, options.seconds)
    const calmly = await other.during(() => measured(rig, () => calmLoop.measure(options.seconds)))
    await calmLoop.stop()
    await calm.close()

    let endedInAll = 0
    rig.runner.onFinished = count => {
      endedInAll += count
    }
    const posted = new Runs(rig, SEQUENCE_3, { until: 'accepted', connections: SENDERS })
    const senders = new Loop(SENDERS, () => posted.one())
    // A thousand connections at once are more than the queue of a listening socket holds, so some open only seconds later.
    await senders.warmUp(2 * SENDERS, options.seconds)
    const endedBefore = endedInAll
    const flooded = await other.during(() => measured(rig, () => senders.measure(options.seconds * FLOOD_WINDOWS)))
    const ended = endedInAll - endedBefore
    const endedPerS = ended / flooded.window.seconds
    const backlog = posted.accepted - endedInAll
    await senders.stop()
    await posted.close()
    await other.close()
    const { runs, runsPerS, latenciesMs, cpu } = flooded.window
    return {
      title: `${SENDERS} senders without pause for ${options.seconds * FLOOD_WINDOWS} s, over ${over}, SDK's runner, on ${databaseName(options)}`,
      figures: {
        calm: { 'runs/s': calmly.window.runsPerS, '% idle': 100 * calmly.window.cpu.idleShare },
        flood: {
          'ended/s': endedPerS,
          'share of calm': endedPerS / calmly.window.runsPerS,
          'share for the same CPU': ended / cpuSeconds(cpu) / (calmly.window.runs / cpuSeconds(calmly.window.cpu)),
          'accepted/s': runsPerS,
          'open at the end': backlog,
          'answers 503': posted.refused,
        },
        'to the 202 ms': { ...percentiles(latenciesMs) },
        'another sender, calm': calmly.ofOther,
        'another sender, flood': flooded.ofOther,
        ...cpuFigures(cpu, runs),
      },
      notes: [
        `each sender has a connection; calm: ${CALM_IN_FLIGHT} runs in flight; us/run: of an accepted run`,
        'share for the same CPU: of all processes of the bench; it counts on a machine with other work',
      ],
      problems: [
        ...[calmLoop, senders, other].flatMap(({ problems }) => problems),
        ...(await verify(rig.engine.url, [calm, posted])),
      ],
    }
  })
}

/** Returns the CPU of the engine, the runner and the load. */
const cpuSeconds = (cpu: CpuUse) => secondsOf(cpu, '')

/** A sender of another namespace. It posts events that start nothing, one at a time. */
function otherSender({ engine }: Rig) {
  const api = new Api(engine.url, { namespace: OTHER })
  const problems: string[] = []
  return {
    problems,
    close: () => api.close(),
    /** Sends while the work is under way. */
    async during<T>(work: () => Promise<T>): Promise<{ window: T; ofOther: Figures }> {
      const loop = new Loop(1, async () => {
        const ms = await msOf(() => api.post('/events', { name: 'bench.event', data: {} }))
        await pause(OTHER_PAUSE_MS)
        return ms
      })
      const window = await work()
      await loop.stop()
      problems.push(...loop.problems)
      const { p50, p99, max } = percentiles(loop.latenciesMs)
      return { window, ofOther: { 'p50 ms': p50, 'p99 ms': p99, 'max ms': max, posts: loop.done } }
    },
  }
}
