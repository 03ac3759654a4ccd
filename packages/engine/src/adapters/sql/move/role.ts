// The two sides of a move, and what both dialects demand of a source.

export type MoveRole = 'source' | 'target'

/** Throws if the source does not have the schema that this code knows. */
export function refuseOtherVersion(version: number, known: number): void {
  if (version === known) return
  if (version === 0) throw new Error('it has no engine tables')
  const remedy = version < known ? 'start its engine once to bring it up to date' : 'use a newer perdure'
  throw new Error(`it has schema version ${version}, but this perdure supports only version ${known}: ${remedy}`)
}
