// The table of documents: states of error groups, and views that a namespace shares.

import type { Document } from '../../../../domain/model/document/document.ts'
import { integer, optional, text } from '../../description/column.ts'
import { table } from '../../description/table.ts'

export const DOCUMENTS = table<Document>()('documents', {
  key: ['namespace', 'kind', 'id'],
  since: 3,
  fixed: { namespace: text, kind: text, id: text, content: text, actor: optional(text), savedAt: integer },
})

/** Removes the state of a run's error group with the last run of the group. Parameters: the run's id, twice. */
export const ERASE_ERROR_STATE = `DELETE FROM documents WHERE kind = 'error'
    AND (namespace, id) IN (SELECT namespace, error_key FROM runs WHERE id = ? AND error_key IS NOT NULL)
    AND NOT EXISTS (SELECT 1 FROM runs WHERE namespace = documents.namespace AND error_key = documents.id AND id <> ?)`
