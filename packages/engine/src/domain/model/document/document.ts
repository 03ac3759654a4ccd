// Documents: small things that people keep with a namespace, in addition to runs and configuration. Each has a kind, an id
// within that kind, and a content that depends on the kind.

/** `error`: the state of an error group, by its fingerprint. `view`: a view of the list of runs that the namespace shares. */
export const DOCUMENT_KINDS = ['error', 'view'] as const
export type DocumentKind = (typeof DOCUMENT_KINDS)[number]

export interface Document {
  namespace: string
  kind: DocumentKind
  id: string
  content: string
  /** The label of the key that saved it, if that key has one. */
  actor?: string
  savedAt: number
}

export type DocumentChange =
  /** A new or changed document. */
  | { type: 'document.saved'; document: Document }
  | { type: 'document.deleted'; namespace: string; kind: DocumentKind; id: string }

export type DocumentGuard =
  /** The namespace has at most `most` documents of the kind besides this one. */
  | { type: 'documents'; namespace: string; kind: DocumentKind; id: string; most: number }
  /** A stored run of the namespace failed with the fingerprint. */
  | { type: 'failed'; namespace: string; fingerprint: string }
