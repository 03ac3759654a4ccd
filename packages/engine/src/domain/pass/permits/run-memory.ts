// The memory of an engine for the state of runs under way, in bytes of stored state, and which run may take some. Passes cannot
// be ended early, so a run may outgrow the memory; it is then given back at its next boundary. Owned by
// services/pass/permits/engine-permits; claims use a copy.

/** The memory that runs under way have taken. */
export interface MemoryInUse {
  max: number
  tiny: number
  small: number
  large: number
  largeCount: number
}

/** A run with more than this part of the memory is large. */
const SMALL_PART = 1 / 64
/**
 * A run with less than this part is tiny, and tiny runs have their own part: runs that grow are small at first, and would keep
 * all others out until they have grown.
 */
const TINY_PART = 1 / 1024
const TINY_TAKEN_PART = 1 / 16
/** The part of the memory up to which large runs are taken, so that they have room to grow. */
const TAKEN_PART = 1 / 2
/** The part of the memory that large runs may have. The rest is for small ones. */
const LARGE_PART = 3 / 4

export class RunMemory {
  readonly max: number
  readonly smallMax: number
  readonly #tinyMax: number
  #tiny: number
  #small: number
  #large: number
  #largeCount: number
  /** The part of runs that give back at their next boundary. */
  #leavingSmall = 0
  #leavingLarge = 0
  #leavingLargeCount = 0

  constructor(max: number, { tiny, small, large, largeCount }: Omit<MemoryInUse, 'max'> = NOTHING) {
    this.max = max
    this.smallMax = max * SMALL_PART
    this.#tinyMax = max * TINY_PART
    this.#tiny = tiny
    this.#small = small
    this.#large = large
    this.#largeCount = largeCount
  }

  get used(): number {
    return this.#tiny + this.#small + this.#large
  }

  /** Whether runs have outgrown the memory together. A single run may. */
  get isExceeded(): boolean {
    return this.#small + this.#large > this.max && (this.#largeCount > 1 || this.#small > this.#smallShare)
  }

  /**
   * Whether a run of that size may be taken. One large run always may. Small runs have their own part of the memory, and so
   * have tiny ones, so that they go past larger runs that wait.
   */
  hasRoom(bytes: number): boolean {
    if (bytes <= this.#tinyMax) return this.#tiny < this.max * TINY_TAKEN_PART
    if (bytes <= this.smallMax) return this.#small < this.#smallShare
    if (this.#largeCount === 0) return true
    return this.#large + bytes <= this.max * TAKEN_PART && this.used + bytes <= this.max
  }

  take(bytes: number): void {
    this.#add(bytes, 1)
  }

  giveBack(bytes: number): void {
    this.#add(bytes, -1)
  }

  /** Whether a run of that size must give back its memory, because runs have outgrown it. One large run may stay. */
  mustLeave(bytes: number): boolean {
    if (bytes <= this.#tinyMax) return false
    if (bytes <= this.smallMax) return this.#small - this.#leavingSmall > this.#smallShare
    const isAlone = this.#largeCount - this.#leavingLargeCount <= 1
    return !isAlone && this.#large - this.#leavingLarge > this.max * LARGE_PART
  }

  /** Records that a run of that size gives back its part at its next boundary. */
  leaves(bytes: number): void {
    this.#addLeaving(bytes, 1)
  }

  /** Records that such a run has given it back, or has another size now. */
  left(bytes: number): void {
    this.#addLeaving(bytes, -1)
  }

  /** All taken memory, for a copy. */
  inUse(): MemoryInUse {
    return { max: this.max, tiny: this.#tiny, small: this.#small, large: this.#large, largeCount: this.#largeCount }
  }

  get #smallShare(): number {
    return this.max - Math.min(this.#large, this.max * LARGE_PART)
  }

  #add(bytes: number, count: 1 | -1): void {
    if (bytes <= this.#tinyMax) this.#tiny += count * bytes
    else if (bytes <= this.smallMax) this.#small += count * bytes
    else {
      this.#large += count * bytes
      this.#largeCount += count
    }
  }

  #addLeaving(bytes: number, count: 1 | -1): void {
    if (bytes <= this.#tinyMax) return
    if (bytes <= this.smallMax) this.#leavingSmall += count * bytes
    else {
      this.#leavingLarge += count * bytes
      this.#leavingLargeCount += count
    }
  }
}

const NOTHING = { tiny: 0, small: 0, large: 0, largeCount: 0 }
