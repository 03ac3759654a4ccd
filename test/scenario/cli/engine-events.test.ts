// The commands for engine events, as a user meets them after a run has failed (docs/events.md#events-of-the-engine).

import type { EventRecord } from '@perdure/protocol'
import { expect, test } from 'vitest'
import { CommandHost, flow, linesOf, returned, scenario, step, unique, until } from '../../kit/index.ts'

const { api, engine } = await scenario({ realTime: true })
const commands = new CommandHost()
const cli = (args: readonly string[]) => commands.run(args, { ENGINE_URL: engine.url })

test('they list it by its source, show its data, say what it started, and start another run with it', async () => {
  const [order, alert] = [unique('order'), unique('alert')]
  await engine.runner({
    app: 'shop',
    workflows: {
      [order]: flow([step('StepRun', 'print', { error: { message: 'no paper' }, retriable: false })]),
      [alert]: {
        handler: () => returned(1),
        registration: { triggers: [{ event: 'perdure/run.*', if: `event.data.workflow == '${order}'` }] },
      },
    },
  })
  const { runId } = await api.send({ name: order })
  const alerted = await until(async () => (await api.runs(`?workflow=${alert}`))[0], { what: 'the alert' })
  const { stdout } = await cli(['events', 'list', '--source', 'engine'])
  expect(stdout).toMatch(/perdure\/run\.failed +shop +engine /)
  const of = { '--name': 'perdure/run.failed', '--source': 'engine' }
  const [event] = await linesOf<EventRecord>(cli, ['events', 'list', ...Object.entries(of).flat()])
  expect(event).toMatchObject({ source: 'engine', app: 'shop', data: { runId, status: 'failed', workflow: order } })
  const shown = await cli(['events', 'get', event?.id as string])
  expect(shown.stdout).toMatch(/source +engine/)
  for (const text of [runId, 'no paper', alerted.id]) expect(shown.stdout).toContain(text)
  expect((await cli(['events', 'why', event?.id as string])).stdout).toContain(`shop/${alert}  run:`)
  const redriven = await cli(['events', 'redrive', event?.id as string, '--workflow', alert])
  expect(redriven.code, redriven.stderr).toBe(0)
  await until(async () => (await api.runs(`?workflow=${alert}`)).length === 2, { what: 'the second alert' })
  const sent = await cli(['events', 'send', 'perdure/run.failed'])
  expect(sent).toMatchObject({ code: 1, stderr: expect.stringContaining('only the engine sends such events') })
})
