// Where the rows of a list are, also those that are not in the document.

export interface Places {
  /** The distance from the top of the list; of the number of rows, the height of the list. */
  topOf(index: number): number
  /** The row at a distance from the top. */
  indexAt(px: number): number
}

/** Rows that all have one height. */
export function evenPlaces(rowPx: number): Places {
  return { topOf: index => index * rowPx, indexAt: px => Math.floor(px / rowPx) }
}
