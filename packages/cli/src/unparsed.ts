// The commands that parse their arguments themselves, by name. Called by main.ts, and listed by program.ts.

import type { UnparsedCommand } from './command-line/flags.ts'
import { dev } from './commands/dev/index.ts'
import { doctor } from './commands/doctor.ts'
import { serve } from './commands/serve.ts'

export const UNPARSED: ReadonlyMap<string, UnparsedCommand> = new Map(Object.entries({ serve, dev, doctor }))
