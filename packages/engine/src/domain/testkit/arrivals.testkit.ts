// Makes an event arrive at workflows under flow-control policies, on given assumptions: for the tests of the policies.

import { type Fanout, type FanoutInput, fanout } from '../arrival/fanout.ts'
import type { Change } from '../model/change.ts'
import type { FlowControl } from '../model/flow-control.ts'
import type { Workflow } from '../model/workflow.ts'
import { type Assumptions, noAssumptions } from '../run/assumptions.ts'
import { frozen } from './frozen.testkit.ts'
import { catalog, event, NOW, workflow } from './nouns.testkit.ts'

/** A workflow with these policies that the event `order.placed` triggers. */
export const under = (flowControl: FlowControl, fields: Partial<Workflow> = {}): Workflow =>
  workflow('order', { triggers: [{ event: 'order.placed' }], flowControl, ...fields })

/** The decision about an event `order.placed` with this data. */
export function arrives(
  data: unknown,
  assumptions: Partial<Assumptions>,
  workflows: readonly Workflow[],
  input: Partial<FanoutInput> = {},
): Fanout {
  const placed = event('evt_1', 'order.placed', { data: JSON.stringify(data), receivedAt: NOW })
  return frozen(
    fanout(
      frozen({
        event: placed,
        catalog: catalog(...workflows),
        assumptions: { ...noAssumptions(), ...assumptions },
        report: () => {},
        ...input,
      }),
    ),
  )
}

export function changesOf<T extends Change['type']>(
  { changes }: { changes: readonly Change[] },
  type: T,
): Extract<Change, { type: T }>[] {
  return changes.filter((change): change is Extract<Change, { type: T }> => change.type === type)
}
