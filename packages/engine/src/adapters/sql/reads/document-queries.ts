// Queries of documents: states of error groups, and views that a namespace shares. Called by the reads.

import type { DocumentKind } from '../../../domain/model/document/document.ts'
import type { Query } from '../description/values.ts'
import { DOCUMENTS } from '../tables/document/documents.ts'

/** The documents of a kind, by id. */
export function documentsQuery(namespace: string, { kind, limit }: { kind: DocumentKind; limit: number }): Query {
  const sql = `SELECT ${DOCUMENTS.select} FROM documents WHERE namespace = ? AND kind = ? ORDER BY id LIMIT ?`
  return { sql, params: [namespace, kind, limit] }
}

export function documentQuery(namespace: string, kind: DocumentKind, id: string): Query {
  const sql = `SELECT ${DOCUMENTS.select} FROM documents WHERE namespace = ? AND kind = ? AND id = ?`
  return { sql, params: [namespace, kind, id] }
}
