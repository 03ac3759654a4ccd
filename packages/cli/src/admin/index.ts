// The commands that work on a store itself, whether or not an engine runs on it: keys, namespaces, backup, restore, verify.

import type { Command } from 'commander'
import { keyCommands } from './keys.ts'
import { maintenanceCommands } from './maintenance.ts'
import { namespaceCommands } from './namespaces.ts'

/**
 * Adds the commands to the program. What fails is written to stderr and thrown as a CommanderError whose code is
 * `perdure.admin`, with the exit code 1, or 2 for a store that cannot be used.
 */
export function adminCommands(program: Command): void {
  keyCommands(program)
  namespaceCommands(program)
  maintenanceCommands(program)
}
