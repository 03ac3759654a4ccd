// Joins reads of one key that many callers request at once. Callers that come during a read share the next one. So a thousand
// callers need two reads, and each gets a read that began after its request. Used by services/commit/decide-and-commit, and by
// the watches of what other engines change.

interface Reading<T> {
  underWay: Promise<T>
  /** Begins when the read under way has ended. */
  next: Promise<T> | undefined
}

export class JoinedReads<T> {
  readonly #readings = new Map<string, Reading<T>>()

  /** Returns the result of a read of the key that begins now or later; rejects with the read's error. */
  read(key: string, read: () => Promise<T>): Promise<T> {
    const reading = this.#readings.get(key)
    if (reading === undefined) return this.#begin(key, read)
    const begin = () => this.#begin(key, read)
    reading.next ??= reading.underWay.then(begin, begin)
    return reading.next
  }

  #begin(key: string, read: () => Promise<T>): Promise<T> {
    const reading: Reading<T> = { underWay: read(), next: undefined }
    this.#readings.set(key, reading)
    const end = () => {
      if (reading.next === undefined) this.#readings.delete(key)
    }
    reading.underWay.then(end, end)
    return reading.underWay
  }
}
