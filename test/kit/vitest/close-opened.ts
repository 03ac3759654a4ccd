// Runs before each test file (`setupFiles`): when the file ends, what it has opened is closed.

import { afterAll } from 'vitest'
import { closeOpened } from '../cleanup.ts'

afterAll(closeOpened)
