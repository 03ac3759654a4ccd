// Runs before each test file (`setupFiles` in vitest.config.ts), so that everything the file has opened is closed
// when the file ends.

import { afterAll } from 'vitest'
import { closeOpened } from '../cleanup.ts'

afterAll(closeOpened)
