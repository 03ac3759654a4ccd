// The commands that open a store themselves, whether or not an engine runs on it: keys, namespaces, backup, restore,
// verify, move.

import type { Command } from 'commander'
import { keyCommands } from './keys.ts'
import { maintenanceCommands } from './maintenance.ts'
import { namespaceCommands } from './namespaces.ts'

/** Adds the commands to the program. */
export function adminCommands(program: Command): void {
  keyCommands(program)
  namespaceCommands(program)
  maintenanceCommands(program)
}
