// The commands for budgets: a run beyond its limit is found, explained and resumed (docs/budgets.md#raise-a-limit).

import { expect, test } from 'vitest'
import { CommandHost, flow, linesOf, run, scenario, step, unique } from '../../kit/index.ts'

const { api, engine } = await scenario({ realTime: true })
const commands = new CommandHost()
const cli = (args: readonly string[]) => commands.run(args, { ENGINE_URL: engine.url })

test('a run is found, shown and explained, and a raised limit resumes it', async () => {
  const research = unique('research')
  const runner = await engine.runner({
    workflows: {
      [research]: {
        handler: flow([step('StepRun', 'ask', { data: 1, spent: { usd: 1.5 } }), run('answer')], () => 'yes'),
        registration: { budget: { usd: 1, tokens: 5000 } },
      },
    },
  })
  await runner.register(api, { features: ['budgets'] })
  const { runId } = await api.send({ name: research })
  await api.reaches(runId, 'paused')
  const [found] = await linesOf<{ id: string }>(cli, ['runs', 'list', '--waiting-for', 'budget'])
  expect(found?.id).toBe(runId)
  const { stdout } = await cli(['runs', 'get', runId])
  expect(stdout).toMatch(/budget +1\.5 of 1 usd\n/)
  expect(stdout).toMatch(/budget +0 of 5000 tokens\n/)
  expect(stdout).toMatch(new RegExp(`waits for +the budget of ${runId}: 1.5 of 1 usd spent`))
  expect((await cli(['runs', 'why', runId])).stdout).toContain('1.5 of 1 usd were spent')
  const wrong = await cli(['runs', 'budget', runId, 'usd=ten'])
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('NAME=NUMBER or NAME=none') })
  const raised = await cli(['runs', 'budget', runId, 'usd=10', 'tokens=none'])
  expect(raised.stdout).toBe('usd 1.5 of 10\n1 run resumed\n')
  expect((await api.succeeded(runId)).result).toBe('yes')
  const [ended] = await linesOf<object>(cli, ['runs', 'get', runId])
  expect(ended).toMatchObject({ budget: { usd: { limit: 10, spent: 1.5 } } })
})
