// Keeps the destinations of deliveries out of each other's way: how many may be under way to each. Like the window of
// TCP, a destination starts with one and gets one more for every answer, and half for none; so what hangs or is down
// soon holds one place of the engine's, and those that have not shown to answer share half of the places.

import type { DeliveryClaim } from '../../ports/store.ts'

/** Most deliveries under way to one destination. */
export const PER_DESTINATION_MAX = 32
/** Destinations whose windows are remembered while nothing is under way to them. */
const REMEMBERED_MAX = 500

interface Destination {
  underWay: number
  window: number
}

export class Destinations {
  /** Those with something under way or a window above 1, the one that answered last at the end. */
  readonly #known = new Map<string, Destination>()
  readonly #unprovenMax: number

  /** `placesMax`: deliveries under way in all. */
  constructor(placesMax: number) {
    this.#unprovenMax = Math.ceil(placesMax / 2)
  }

  /** What may be claimed now. */
  limits(): Pick<DeliveryClaim, 'room' | 'unnamed'> {
    const room = new Map<string, number>()
    let unproven = 0
    for (const [name, { underWay, window }] of this.#known) {
      room.set(name, Math.max(0, window - underWay))
      if (window === 1) unproven += underWay
    }
    return { room, unnamed: Math.max(0, this.#unprovenMax - unproven) }
  }

  /** A delivery to it was claimed. */
  begin(name: string): void {
    const destination = this.#known.get(name) ?? { underWay: 0, window: 1 }
    destination.underWay++
    this.#known.set(name, destination)
  }

  /** That delivery is over. `answered`: by the destination, in whatever words; undefined where it was not asked. */
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
    // Nothing under way and a window of 1 is what an unknown one has.
    if (destination.underWay > 0 || destination.window > 1) this.#known.set(name, destination)
  }

  #forget(): void {
    if (this.#known.size <= REMEMBERED_MAX) return
    for (const [name, { underWay }] of this.#known) {
      if (underWay > 0) continue
      this.#known.delete(name)
      if (this.#known.size <= REMEMBERED_MAX) return
    }
  }
}
