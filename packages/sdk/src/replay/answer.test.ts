// Every answer stays within the response limit, and says what it left out.

import { describe, expect, test } from 'vitest'
import { LogBuffer } from '../run/log-buffer.ts'
import { RunReport } from '../run/run-report.ts'
import { createWorkflow } from '../workflow/create-workflow.ts'
import { answerOf } from './answer.ts'
import { TestRun } from './engine.testkit.ts'

const CAP = 1024 * 1024

describe('results that do not fit together', () => {
  test('go into separate answers, and the run still ends with all of them', async () => {
    const ran = new Map<string, number>()
    const workflow = createWorkflow({ name: 'flow' }, async ({ step }) => {
      const big = (name: string) =>
        step.run(name, () => {
          ran.set(name, (ran.get(name) ?? 0) + 1)
          return name.repeat(400_000)
        })
      const [, ...texts] = await Promise.all([step.sleep('pause', 1), big('a'), big('b'), big('c')])
      return texts.map(text => text.length)
    })
    const run = new TestRun(workflow)
    expect(await run.drive()).toMatchObject({ status: 200, data: [400_000, 400_000, 400_000] })
    expect(run.discovered).toEqual([['pause', 'a', 'b'], ['c'], []])
    expect(run.passes[0]?.logs).toMatchObject([
      {
        level: 'warn',
        message: '1 steps discovered together do not fit into one answer: the next pass continues with them',
      },
    ])
    expect([...ran.values()]).toEqual([1, 1, 2])
  })

  test('finished steps are sent before steps that the next pass can discover again', async () => {
    const workflow = createWorkflow({ name: 'flow' }, async ({ step }) => {
      await Promise.all([
        step.emit('announce', { event: 'e', data: 'x'.repeat(600_000) }),
        step.run('work', () => 'y'.repeat(600_000)),
      ])
    })
    const run = new TestRun(workflow)
    await run.drive()
    expect(run.discovered).toEqual([['work'], ['announce'], []])
  })
})

const report = new RunReport({})

describe('logs', () => {
  test.each([
    ['the result', '€'.repeat(300_000), CAP - 3_000],
    ['the largest possible result', 'r'.repeat(CAP - 16 * 1024 - 2), 0],
  ])('are dropped in favour of %s', async (_, result, bytesMin) => {
    const logs = new LogBuffer()
    for (let i = 0; i < 500; i++) logs.append(logs.root, { level: 'info', message: 'm'.repeat(2_000) })
    const { status, body } = answerOf({ kind: 'returned', data: JSON.stringify(result) }, { logs, report })
    expect(status).toBe(200)
    expect(Buffer.byteLength(body)).toBeLessThanOrEqual(CAP)
    expect(Buffer.byteLength(body)).toBeGreaterThan(bytesMin)
    const parsed = JSON.parse(body)
    expect(parsed.data).toBe(result)
    expect(parsed.logs.at(-1).message).toMatch(/^\d+ log lines of this pass were dropped/)
  })
})
