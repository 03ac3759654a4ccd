// The part of the reads about the definitions that workflows have and had.

import type { KeptDefinition } from '../domain/model/workflow.ts'

export interface DefinitionsQuery {
  app: string
  workflow: string
  limit: number
  /** When the last definition of the page before began to count. */
  before?: number | undefined
}

export interface DefinitionReads {
  /** The stored definitions of the workflow, the newest first: as many as the limit, or fewer where they are large. */
  definitions(query: DefinitionsQuery): Promise<KeptDefinition[]>
}
