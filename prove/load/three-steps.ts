// A runner of three steps in a row. Its ledger shows each step that it executed, and the memos of its passes.

import { MemoRecord } from '../../test/faults/kill/workload.ts'
import { flow, PlainRunner, run, type Step } from '../../test/kit/index.ts'

export interface ThreeSteps {
  name: string
  app: string
  runner: PlainRunner
  record: MemoRecord
}

const NAME = 'three-steps'

/** `between`: steps between the second and the third. */
export async function openThreeSteps(app: string, between: readonly Step[] = []): Promise<ThreeSteps> {
  const record = new MemoRecord()
  const token = ({ event }: { event: { data?: unknown } }) => (event.data as { token: string }).token
  const handler = flow([run('one', token), run('two', token), ...between, run('three', token)], ({ three }) => three)
  const runner = await new PlainRunner({ app, runner: app, record, workflows: { [NAME]: handler } }).listen()
  return { name: NAME, app, runner, record }
}
