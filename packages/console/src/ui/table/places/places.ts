// The places of the rows of a list, including rows that are not in the document.

export interface Places {
  /** Returns the distance from the top of the list; for the number of rows, the height of the list. */
  topOf(index: number): number
  /** Returns the row at a distance from the top. */
  indexAt(px: number): number
}

/** Returns places for rows that all have the same height. */
export function evenPlaces(rowPx: number): Places {
  return { topOf: index => index * rowPx, indexAt: px => Math.floor(px / rowPx) }
}
