// The commands that open a store themselves, whether or not an engine runs on it: keys, namespaces, backup, restore,
// verify.

import type { Command } from 'commander'
import { keyCommands } from './keys.ts'
import { maintenanceCommands } from './maintenance.ts'
import { namespaceCommands } from './namespaces.ts'

/**
 * Adds the commands to the program. An error is written to stderr and thrown as a CommanderError with the code
 * `perdure.admin` and the exit code 1, or 2 for a store that cannot be used.
 */
export function adminCommands(program: Command): void {
  keyCommands(program)
  namespaceCommands(program)
  maintenanceCommands(program)
}
