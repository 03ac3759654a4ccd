// The loggers that `log` takes: `console`, pino's and winston's loggers, and a function (docs/serving.md#logs-of-the-runner).

import { Writable } from 'node:stream'
import { pino } from 'pino'
import { expect, test, vi } from 'vitest'
import { createLogger, format, transports } from 'winston'
import { createHandler } from '../runner/handler.ts'
import { startRegistration } from '../runner/registration.ts'
import { createWorkflow } from '../workflow/create-workflow.ts'
import { type LevelLogger, type RunnerLog, runnerLogOf } from './runner-log.ts'

/** A stream, and the lines that were written to it. */
function recorder() {
  const lines: { level: unknown; message?: string; msg?: string }[] = []
  const write = (chunk: Buffer, _: string, done: () => void) => {
    lines.push(JSON.parse(String(chunk)))
    done()
  }
  return { lines, stream: new Writable({ write }) }
}

const workflow = createWorkflow({ name: 'w', handlerRetries: 1 }, () => {
  throw new Error('broken')
})

/** Runs a pass that throws in its handler, which the runner logs. */
async function fail(log: RunnerLog | LevelLogger): Promise<void> {
  const handler = createHandler({ app: 'a', workflows: [workflow], signingKey: [], log })
  const ctx = { runId: 'run_1', workflow: 'w', attempt: 1, app: 'a', runner: '' }
  await handler.invoke({ event: { name: 'w' }, steps: {}, ctx })
}

const message = expect.stringContaining('run run_1 of workflow "w" (attempt 1) threw outside its steps: Error: broken')

test('a logger of pino', async () => {
  const { lines, stream } = recorder()
  await fail(pino(stream))
  expect(lines).toMatchObject([{ level: 50, msg: message }])
})

test('a logger of winston', async () => {
  const { lines, stream } = recorder()
  await fail(createLogger({ transports: [new transports.Stream({ stream, format: format.json() })] }))
  expect(lines).toMatchObject([{ level: 'error', message }])
})

test('the console, and a function', async () => {
  const error = vi.spyOn(console, 'error').mockReturnValue()
  await fail(console)
  expect(error).toHaveBeenCalledWith(message)
  error.mockRestore()
  const lines: unknown[] = []
  await fail((...line) => lines.push(line))
  expect(lines).toEqual([['error', message]])
})

test.each<[unknown, string]>([
  ['info', 'not info'],
  [{ info() {}, error() {} }, 'not an object without the method warn'],
  [null, 'not null'],
])('%s is refused when the runner starts', (log, given) => {
  const problem = `\`log\` must be a logger with info, warn and error (console, pino, winston) or a function (level, message) => void, ${given}`
  expect(() => runnerLogOf(log as LevelLogger)).toThrow(problem)
  expect(() => createHandler({ app: 'a', workflows: [workflow], log: log as LevelLogger })).toThrow(problem)
  const handler = createHandler({ app: 'a', workflows: [workflow], signingKey: [] })
  const serving = { url: 'http://127.0.0.1:1/', framework: 'node' }
  expect(() => startRegistration(handler, serving, { log: log as LevelLogger })).toThrow(problem)
})
