// Starts an engine under test that is stopped when the test ends. Its runs do not need to have ended.

import { onTestFinished } from 'vitest'
import { type TestEngine, testEngine } from './index.ts'

export async function open(options: Parameters<typeof testEngine>[0]): Promise<TestEngine> {
  const engine = await testEngine(options)
  onTestFinished(() => engine.stop({ leaveRuns: true }))
  return engine
}
