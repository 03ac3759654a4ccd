// `perdure runs retry` of one run, against the real engine: from the failed step, unless another is named.

import { expect, test } from 'vitest'
import { CommandHost, type Exit, flow, run, StepFailure, scenario, unique } from '../../kit/index.ts'

const { api, engine } = await scenario({ realTime: true })
const [sound, broken] = [unique('sound'), unique('broken')]
const refuse = () => {
  throw new StepFailure('no luck', { retriable: false })
}
const { record } = await engine.runner({
  workflows: { [sound]: flow([run('first')]), [broken]: flow([run('first'), run('second', refuse)]) },
})

const commands = new CommandHost()
const cli = (args: readonly string[]): Promise<Exit> => commands.run(args, { ENGINE_URL: engine.url })

test('retry without a step starts at the step that failed', async () => {
  const { runId } = await api.send({ name: broken })
  await api.reaches(runId, 'failed')
  const { stdout } = await cli(['runs', 'retry', runId])
  const id = /run_\w+/.exec(stdout)?.[0] as string
  expect(await api.reaches(id, 'failed')).toMatchObject({ replayOf: runId, error: { stepName: 'second' } })
  expect(record.names(id)).toEqual(['second'])
})

test('retry refuses a run without a failed step, and a step for many runs', async () => {
  const { runId } = await api.send({ name: sound })
  await api.succeeded(runId)
  const [none, many] = [`no step of ${runId} has failed: choose one with --step`, '--step needs a run id']
  expect(await cli(['runs', 'retry', runId])).toMatchObject({ code: 2, stderr: expect.stringContaining(none) })
  const ofMany = ['runs', 'retry', '--workflow', broken, '--step', 'second', '--yes']
  expect(await cli(ofMany)).toMatchObject({ code: 2, stderr: expect.stringContaining(many) })
})
