// How a claim of deliveries divides its limit among destinations (ports/store, DeliveryClaim). Asked for each due
// row in the order of their times, by the driver of every dialect.

import type { DeliveryClaim } from '../../../ports/store.ts'

export class DeliveryShare {
  readonly #room: Map<string, number>
  #unnamed: number
  #left: number

  constructor({ room, unnamed, limit }: DeliveryClaim) {
    this.#room = new Map(room)
    this.#unnamed = unnamed
    this.#left = limit
  }

  get isUsedUp(): boolean {
    return this.#left <= 0
  }

  /** Whether one more may be taken of the destination. */
  hasRoom(destination: string): boolean {
    return this.#left > 0 && (this.#room.get(destination) ?? this.#unnamed) > 0
  }

  /** Takes one of the destination, if it has room. */
  take(destination: string): boolean {
    if (!this.hasRoom(destination)) return false
    const room = this.#room.get(destination)
    if (room === undefined) this.#unnamed--
    this.#room.set(destination, (room ?? 1) - 1)
    this.#left--
    return true
  }
}
