// The reads of the present and earlier definitions of workflows.

import type { KeptDefinition } from '../domain/model/workflow.ts'

export interface DefinitionsQuery {
  app: string
  workflow: string
  limit: number
  /** When the last definition of the previous page began to count. */
  before?: number | undefined
}

export interface DefinitionReads {
  /** The stored definitions of the workflow, the newest first: as many as the limit, or fewer where they are large. */
  definitions(query: DefinitionsQuery): Promise<KeptDefinition[]>
}
