// Runs before each test file (`setupFiles` in vitest.config.ts), so that everything the file has opened is closed when the file
// ends, and a failed test is printed with the log of its engines.

import { afterAll, afterEach, beforeEach } from 'vitest'
import { closeOpened } from '../cleanup.ts'
import { takeLog } from '../engine/recent-log.ts'

beforeEach(() => void takeLog())

afterEach(({ task }) => {
  const lines = takeLog()
  if (task.result?.state === 'fail' && lines.length > 0)
    console.error(`The log of the engines of "${task.name}":\n${lines.join('\n')}`)
})

afterAll(closeOpened)
