// Divides the limit of a claim of deliveries among destinations (`DeliveryClaim` in the store port). Called for each due
// row, in the order of their times.

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

  /** Whether one more delivery of the destination may be taken. */
  hasRoom(destination: string): boolean {
    return this.#left > 0 && (this.#room.get(destination) ?? this.#unnamed) > 0
  }

  /** Takes a delivery of the destination, if there is room. */
  take(destination: string): boolean {
    if (!this.hasRoom(destination)) return false
    const room = this.#room.get(destination)
    if (room === undefined) this.#unnamed--
    this.#room.set(destination, (room ?? 1) - 1)
    this.#left--
    return true
  }
}
