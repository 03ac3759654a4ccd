// D1: a backlog of webhook deliveries to one fast server. D2: how soon a delivery to a healthy server arrives, alone
// and beside a hundred servers that never answer. The deliveries are custom ones, sent by workflows.

import { CpuMeter } from '../measure/cpu-meter.ts'
import { percentiles } from '../measure/latency.ts'
import { cpuFigures, type Result } from '../report/report.ts'
import type { BenchOptions } from '../rig/options.ts'
import { DeliveryRig } from './delivery-rig.ts'

const SENDS_A_RUN = 500
const D1_DELIVERIES_A_SECOND = 3000
const DEAD = 100
const SENDS_TO_EACH_DEAD = 20
/** Time from one delivery of D2 to the next. */
const D2_PACE_MS = 10
const WARM_UP = 300

export async function d1(options: BenchOptions): Promise<Result[]> {
  const rig = await DeliveryRig.open(options)
  try {
    const total = Math.ceil((options.seconds * D1_DELIVERIES_A_SECOND) / SENDS_A_RUN) * SENDS_A_RUN
    const meter = new CpuMeter({ engine: rig.engine.pid, 'sink, runner and load': process.pid })
    for (let i = 0; i < total / SENDS_A_RUN; i++) await rig.send(Array(SENDS_A_RUN).fill(rig.sinkUrl))
    await rig.arrived(total)
    const cpu = meter.read()
    // The backlog grows in the first quarter, and the last twentieth is its end.
    const [from, to] = [Math.floor(total * 0.25), Math.floor(total * 0.95)]
    const seconds = ((rig.arrivals[to] as number) - (rig.arrivals[from] as number)) / 1000
    const result: Result = {
      workload: 'D1',
      title: 'webhook deliveries to one fast server',
      figures: {
        deliveries: { total, 'deliveries/s': (to - from) / seconds },
        ...cpuFigures(cpu, total),
      },
      notes: ['a run is a delivery here; the window is from the first quarter of the arrivals to their last twentieth'],
      problems: await rig.problems(total),
      profiles: [],
    }
    return [result]
  } finally {
    await rig.close()
  }
}

export async function d2(options: BenchOptions): Promise<Result[]> {
  const rig = await DeliveryRig.open(options)
  try {
    const count = Math.ceil((options.seconds * 1000) / D2_PACE_MS)
    await rig.latencies(WARM_UP, D2_PACE_MS)
    const alone = percentiles(await rig.latencies(count, D2_PACE_MS))
    const dead = Array.from({ length: DEAD }, (_, i) => rig.deadUrl(i))
    for (let i = 0; i < SENDS_TO_EACH_DEAD; i++) await rig.send(dead)
    await rig.hanging(DEAD)
    const beside = percentiles(await rig.latencies(count, D2_PACE_MS))
    const result: Result = {
      workload: 'D2',
      title: `a healthy server beside ${DEAD} that never answer`,
      figures: {
        'alone ms': { ...alone },
        'beside the dead ms': { ...beside },
        share: { 'p99 beside / alone': beside.p99 / alone.p99, 'posts to the dead': rig.hung },
      },
      notes: ['from the answer of the runner that requests the delivery to the POST at its server'],
      problems: [],
      profiles: [],
    }
    return [result]
  } finally {
    await rig.close()
  }
}
