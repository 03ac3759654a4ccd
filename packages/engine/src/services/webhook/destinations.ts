// Bounds how many deliveries may be under way to each destination, so that a slow one does not hold up the others. Like the
// window of TCP, the bound starts at one, rises by one with every answer and halves when none comes. A destination that hangs
// soon has only one delivery under way, and destinations that have not answered yet share half of the engine's permits.

import type { DeliveryClaim } from '../../ports/store.ts'

/** Maximum deliveries under way to one destination. */
export const PER_DESTINATION_MAX = 32
/** Maximum destinations in memory that have nothing under way. */
const IDLE_DESTINATIONS_MAX = 500

interface Destination {
  underWay: number
  window: number
}

export class Destinations {
  /** The destinations with a delivery under way or a window above 1; the one that ended last is at the end. */
  readonly #known = new Map<string, Destination>()
  readonly #unprovenMax: number

  /** `deliveriesMax`: maximum deliveries under way, over all destinations. */
  constructor(deliveriesMax: number) {
    this.#unprovenMax = Math.ceil(deliveriesMax / 2)
  }

  /** The bounds of a claim that is made now. */
  limits(): Pick<DeliveryClaim, 'room' | 'unnamed'> {
    const room = new Map<string, number>()
    let unproven = 0
    for (const [name, { underWay, window }] of this.#known) {
      room.set(name, Math.max(0, window - underWay))
      if (window === 1) unproven += underWay
    }
    return { room, unnamed: Math.max(0, this.#unprovenMax - unproven) }
  }

  /** Records that a delivery to the destination was claimed. */
  begin(name: string): void {
    const destination = this.#known.get(name) ?? { underWay: 0, window: 1 }
    destination.underWay++
    this.#known.set(name, destination)
  }

  /**
   * Records that the delivery has ended. `answered`: the destination answered, whatever the status; undefined when nothing was
   * sent.
   */
  end(name: string, answered: boolean | undefined): { hadNoRoom: boolean } {
    const destination = this.#known.get(name)
    if (!destination) return { hadNoRoom: false }
    const hadNoRoom = destination.underWay >= destination.window
    destination.underWay--
    if (answered === true) destination.window = Math.min(PER_DESTINATION_MAX, destination.window + 1)
    else if (answered === false) destination.window = Math.max(1, Math.floor(destination.window / 2))
    if (answered !== undefined) this.#moveToEnd(name, destination)
    this.#forget()
    return { hadNoRoom }
  }

  #moveToEnd(name: string, destination: Destination): void {
    this.#known.delete(name)
    // An unknown destination counts as one with nothing under way and a window of 1.
    if (destination.underWay > 0 || destination.window > 1) this.#known.set(name, destination)
  }

  #forget(): void {
    if (this.#known.size <= IDLE_DESTINATIONS_MAX) return
    for (const [name, { underWay }] of this.#known) {
      if (underWay > 0) continue
      this.#known.delete(name)
      if (this.#known.size <= IDLE_DESTINATIONS_MAX) return
    }
  }
}
